# Sourced by ./run and ./test: what a bare Debian 12 machine needs before Ridge can be built, and how it is built.
# Owns: the package list, configuring, building, where logs go. Refuses: to ask questions, to install twice.
# Everything here talks on stderr, so that stdout belongs to the program that is run.

RIDGE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
RIDGE_LOGS=$RIDGE_ROOT/build/logs

# A second checkout finds the first one's objects: ccache then sees paths relative to the tree.
export CCACHE_BASEDIR=$RIDGE_ROOT CCACHE_NOHASHDIR=true

# The only package list. THIRD_PARTY.md gives the reason for each library.
ridge_packages() {
  case $1 in
    build) echo g++ cmake ninja-build pkg-config ccache python3 libfmt-dev libexpected-dev nlohmann-json3-dev libcli11-dev \
      libutf8proc-dev libboost1.81-dev libsqlite3-dev libssl-dev libgtest-dev libbenchmark-dev ;;
    # clang 16 is the floor of ARCHITECTURE.md; the plain `clang` of Debian 12 is 14. A later system has only a newer one.
    fuzz) if ridge_has_package clang-16; then echo clang-16 libclang-rt-16-dev; else echo clang libclang-rt-dev; fi ;;
    aarch64) echo g++-aarch64-linux-gnu qemu-user-static ;;
    *) ridge_die "no package group '$1'" ;;
  esac
}

ridge_say() { printf '%s\n' "$*" >&2; }
ridge_die() { printf 'error: %s\n' "$*" >&2; exit 1; }

ridge_is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
ridge_has_package() {
  ridge_is_installed "$1" || [[ -n $(apt-cache show "$1" 2>/dev/null) ]]
}

# Runs a command as root: directly, or through sudo (without a prompt where nobody could answer one).
ridge_as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"
  elif ! command -v sudo >/dev/null; then return 126
  elif [[ -t 0 ]]; then sudo "$@"
  else sudo -n "$@"
  fi
}

ridge_apt() { ridge_as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@"; }

# The package names of a group may depend on what the archive has, so its list is fetched before it is asked.
ridge_apt_update() {
  [[ -n ${RIDGE_APT_UPDATED:-} ]] && return
  mkdir -p "$RIDGE_LOGS"
  ridge_apt update >"$RIDGE_LOGS/apt-update.log" 2>&1 </dev/null || ridge_say "warning: apt-get update failed; trying with the lists at hand"
  RIDGE_APT_UPDATED=1
}

# ridge_install GROUP...: installs what is missing, and nothing when nothing is.
ridge_install() {
  if ! command -v dpkg-query >/dev/null; then
    ridge_say "not a Debian system: install by its own means what Debian calls $(ridge_packages build)"
    return
  fi
  local group package missing=()
  for group in "$@"; do
    if [[ $group == fuzz ]] && ! ridge_is_installed clang-16 && ! ridge_is_installed clang; then ridge_apt_update; fi
    for package in $(ridge_packages "$group"); do
      ridge_is_installed "$package" || missing+=("$package")
    done
  done
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    [[ ${missing[*]} != ccache ]] || return 0  # it only makes a second build faster
    ridge_die "these packages are missing and neither root nor sudo is at hand to install them; as root: apt-get install ${missing[*]}"
  fi
  ridge_say "installing ${#missing[@]} packages: ${missing[*]}"
  ridge_apt_update
  if ! ridge_apt install --no-install-recommends "${missing[@]}" >"$RIDGE_LOGS/apt-install.log" 2>&1 </dev/null; then
    tail -n 20 "$RIDGE_LOGS/apt-install.log" >&2
    ridge_die "apt-get install failed (whole log: $RIDGE_LOGS/apt-install.log); as root: apt-get install ${missing[*]}"
  fi
}

# A C++ compiler process of this code base may take 1 GiB.
ridge_jobs() {
  local cores memory_gib
  cores=$(nproc)
  memory_gib=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || echo "$cores")
  ((memory_gib < 1)) && memory_gib=1
  echo $((memory_gib < cores ? memory_gib : cores))
}

# ridge_configure PRESET [cmake arguments]: only when there is no build tree yet, or it is of another place or older presets.
ridge_configure() {
  local preset=$1 dir=$RIDGE_ROOT/build/$1
  shift
  mkdir -p "$RIDGE_LOGS"
  if [[ -f $dir/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$RIDGE_ROOT" "$dir/CMakeCache.txt"; then
    ridge_say "build/$preset was configured for another folder: starting it anew"
    rm -rf "$dir"
  fi
  [[ -f $dir/build.ninja && ! $RIDGE_ROOT/CMakePresets.json -nt $dir/build.ninja ]] && return
  ridge_say "configuring build/$preset"
  if ! (cd "$RIDGE_ROOT" && cmake --preset "$preset" "$@") >"$RIDGE_LOGS/$preset-configure.log" 2>&1 </dev/null; then
    tail -n 30 "$RIDGE_LOGS/$preset-configure.log" >&2
    ridge_say "error: configuring failed (whole log: $RIDGE_LOGS/$preset-configure.log)"
    return 1
  fi
}

# ridge_build PRESET [target...]: a counter on a terminal, nothing when there is nothing to do, the errors when it fails.
ridge_build() {
  local preset=$1 log=$RIDGE_LOGS/$1-build.log dir=$RIDGE_ROOT/build/$1
  shift
  # Ninja's own dry run cannot tell (the file globs are checked first), so a later call just runs it and stays silent.
  [[ -f $dir/.ninja_log ]] || ridge_say "building build/$preset${*:+ ($*)}; log: $log"
  local rc=0
  if [[ -t 2 ]]; then
    NINJA_STATUS='[%f/%t] ' ninja -C "$dir" -j "$(ridge_jobs)" "$@" 2>&1 </dev/null | tee "$log" |
      while IFS= read -r line; do if [[ $line == \[* ]]; then printf '\r\033[K%.100s' "$line" >&2; fi; done || rc=1
    printf '\r\033[K' >&2
  else
    ninja -C "$dir" -j "$(ridge_jobs)" "$@" >"$log" 2>&1 </dev/null || rc=1
  fi
  if ((rc)) || grep -q '^FAILED: \|^ninja: error\|^ninja: build stopped' "$log"; then
    grep -n 'error:\|error: \|^FAILED: \|undefined reference\|^ninja: ' "$log" | head -n 40 >&2 || true
    ridge_say "error: the build failed (whole log: $log)"
    return 1
  fi
}

# ridge_build_program: the release program, reachable as build/ridge.
ridge_build_program() {
  ridge_configure release && ridge_build release ridge || return 1
  local path
  for path in apps/ridge/ridge apps/ridge; do
    if [[ -f $RIDGE_ROOT/build/release/$path ]]; then
      ln -sfn "release/$path" "$RIDGE_ROOT/build/ridge"
      return 0
    fi
  done
  ridge_say "error: the build left no program 'ridge' under build/release/apps"
  return 1
}
