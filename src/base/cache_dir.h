// Where this user's cached measurements and prepared files belong: $XDG_CACHE_HOME/ridge, else ~/.cache/ridge.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace ridge {

// Does not create the folder. Errors: not_found when neither variable names an absolute path.
Result<std::filesystem::path> cache_dir();

}  // namespace ridge
