// A file mapped read-only. The only way this program reads a model file's bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace ridge {

class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& o) noexcept;
  MappedFile& operator=(MappedFile&& o) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Errors: not_found, io (a directory, a device, no permission: each said in words). An empty file maps to no bytes.
  static Result<MappedFile> open(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Pages of this mapping now in the page cache / in all (mincore); the evidence behind "cold" and "warm".
  struct Residency {
    size_t n_resident = 0, n_pages = 0;
  };
  Residency residency() const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Lets the system take back the pages of a mapped file that lie wholly inside these bytes, once they have been read for
// the last time: a file larger than memory can then be walked through in little of it. Read again, they come from the
// file again.
void release_pages(std::span<const std::byte> mapped);

}  // namespace ridge
