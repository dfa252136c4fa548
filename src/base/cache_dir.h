// Where this user's files belong: what can be made again (measurements, prepared files) in $XDG_CACHE_HOME/ridge, else
// ~/.cache/ridge; what cannot (records) in $XDG_DATA_HOME/ridge, else ~/.local/share/ridge.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace ridge {

// Neither creates the folder. Errors: not_found when neither variable names an absolute path.
Result<std::filesystem::path> cache_dir();
Result<std::filesystem::path> data_dir();

}  // namespace ridge
