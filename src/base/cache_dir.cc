// Source: the XDG base directory specification: a relative path in a variable is to be ignored.
#include "base/cache_dir.h"

#include <cstdlib>

namespace ridge {
namespace {

std::filesystem::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  std::filesystem::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : std::filesystem::path();
}

Result<std::filesystem::path> ridge_dir(const char* variable, std::string_view below_home, std::string_view what) {
  if (const auto xdg = absolute_variable(variable); !xdg.empty()) return xdg / "ridge";
  if (const auto home = absolute_variable("HOME"); !home.empty()) return home / below_home / "ridge";
  return fail(ErrorCode::not_found, "no folder for {}: neither {} nor HOME names an absolute path; set one of them",
              what, variable);
}

}  // namespace

Result<std::filesystem::path> cache_dir() {
  return ridge_dir("XDG_CACHE_HOME", ".cache", "cached files");
}

Result<std::filesystem::path> data_dir() {
  return ridge_dir("XDG_DATA_HOME", ".local/share", "records");
}

}  // namespace ridge
