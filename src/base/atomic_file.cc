#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ridge {
namespace {

// Linux writes at most this much a call; asking for less keeps the loop honest on every system.
constexpr size_t kMaxWriteBytes = 1u << 30;
constexpr int kMaxNameTries = 100;

tl::unexpected<Error> io_error(const std::filesystem::path& path, std::string_view what, int e) {
  return fail(ErrorCode::io, "'{}': cannot {}: {}", path.string(), what, std::strerror(e));
}

}  // namespace

AtomicFile::AtomicFile(AtomicFile&& o) noexcept
    : path_(std::move(o.path_)), temporary_(std::move(o.temporary_)), fd_(std::exchange(o.fd_, -1)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& o) noexcept {
  std::swap(path_, o.path_);
  std::swap(temporary_, o.temporary_);
  std::swap(fd_, o.fd_);
  return *this;
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::discard() {
  if (fd_ < 0) return;
  close(std::exchange(fd_, -1));
  unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  static std::atomic<uint32_t> counter{0};
  AtomicFile f;
  f.path_ = path;
  for (int i = 0; i < kMaxNameTries; ++i) {
    f.temporary_ = path;
    f.temporary_ += fmt::format(".tmp-{}-{}", getpid(), counter.fetch_add(1));
    f.fd_ = ::open(f.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f.fd_ >= 0) return f;
    if (errno != EEXIST) break;
  }
  return io_error(path, "create a file beside it", errno);
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  assert(fd_ >= 0 && "nothing is written after commit");
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path_, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  assert(fd_ >= 0 && "commit happens once");
  if (fsync(fd_) != 0) return io_error(path_, "sync", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return io_error(path_, "rename the finished file to it", errno);
  close(std::exchange(fd_, -1));
  // Without this a crash may bring the old name back. A directory that cannot be opened or synced has the file all the
  // same.
  const std::filesystem::path parent = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  if (const int dir = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); dir >= 0) {
    fsync(dir);
    close(dir);
  }
  return {};
}

}  // namespace ridge
