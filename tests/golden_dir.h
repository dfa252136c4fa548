// Where tests find the reference data: the folder named by RIDGE_GOLDEN, else ../shared/golden beside the checkout.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#ifndef RIDGE_SOURCE_DIR
#define RIDGE_SOURCE_DIR "."
#endif

namespace ridge::testing {

// nullopt: no reference data here; the test says so and skips.
inline std::optional<std::filesystem::path> golden_dir() {
  const char* named = std::getenv("RIDGE_GOLDEN");
  const std::filesystem::path dir = named != nullptr
                                        ? std::filesystem::path(named)
                                        : std::filesystem::path(RIDGE_SOURCE_DIR) / ".." / "shared" / "golden";
  if (!std::filesystem::is_directory(dir)) return std::nullopt;
  return dir;
}

// RIDGE_FAST is set where a sanitizer or an emulator makes everything ten times slower: long suites then take a sample.
inline bool fast_run() { return std::getenv("RIDGE_FAST") != nullptr; }

// Files beside golden/: models/stories260K.gguf, probes/, reports/.
inline std::optional<std::filesystem::path> shared_file(const std::string& relative) {
  const auto golden = golden_dir();
  if (!golden || !std::filesystem::exists(*golden / ".." / relative)) return std::nullopt;
  return *golden / ".." / relative;
}

}  // namespace ridge::testing

#define RIDGE_GOLDEN_OR_SKIP(name)                                                                      \
  const auto name##_found = ::ridge::testing::golden_dir();                                             \
  if (!name##_found) GTEST_SKIP() << "no reference data: set RIDGE_GOLDEN to the folder that holds it"; \
  const std::filesystem::path name = *name##_found
