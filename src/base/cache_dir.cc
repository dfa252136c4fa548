// Source: the XDG base directory specification: a relative XDG_CACHE_HOME is to be ignored.
#include "base/cache_dir.h"

#include <cstdlib>

namespace ridge {
namespace {

std::filesystem::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  std::filesystem::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

Result<std::filesystem::path> cache_dir() {
  if (const auto xdg = absolute_variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "ridge";
  if (const auto home = absolute_variable("HOME"); !home.empty()) return home / ".cache" / "ridge";
  return fail(ErrorCode::not_found,
              "no folder for cached files: neither XDG_CACHE_HOME nor HOME names an absolute path; set one of them");
}

}  // namespace ridge
