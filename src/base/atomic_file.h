// Writes a file so that its name only ever shows the old contents or all of the new: into a temporary beside it,
// synced, renamed. One thread at a time. Destroyed before commit, it leaves no trace.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace ridge {

class AtomicFile {
 public:
  AtomicFile(AtomicFile&& o) noexcept;
  AtomicFile& operator=(AtomicFile&& o) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Errors: io, with the path and the system's words.
  static Result<AtomicFile> create(const std::filesystem::path& path);
  Result<void> write(std::span<const std::byte> bytes);
  // Syncs, renames over `path`, syncs the directory. Nothing may be written afterwards.
  Result<void> commit();

 private:
  AtomicFile() = default;
  void discard();

  std::filesystem::path path_, temporary_;
  int fd_ = -1;
};

}  // namespace ridge
