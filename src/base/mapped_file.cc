#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace ridge {

MappedFile::MappedFile(MappedFile&& o) noexcept
    : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(size_, o.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const int e = errno;
    if (e == ENOENT) return fail(ErrorCode::not_found, "'{}': no such file", path.string());
    return fail(ErrorCode::io, "'{}': cannot open: {}", path.string(), std::strerror(e));
  }
  struct stat st {};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return fail(ErrorCode::io, "'{}': not a regular file{}", path.string(),
                S_ISDIR(st.st_mode) ? " (a directory)" : "");
  }
  MappedFile m;
  m.size_ = static_cast<size_t>(st.st_size);
  if (m.size_ > 0) {
    void* p = mmap(nullptr, m.size_, PROT_READ, MAP_SHARED, fd, 0);
    const int e = errno;
    if (p == MAP_FAILED) {
      m.size_ = 0;
      close(fd);
      return fail(ErrorCode::io, "'{}': cannot map {} bytes: {}", path.string(), st.st_size, std::strerror(e));
    }
    m.data_ = static_cast<const std::byte*>(p);
  }
  close(fd);
  return m;
}

MappedFile::Residency MappedFile::residency() const {
  Residency r;
  if (size_ == 0) return r;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  r.n_pages = (size_ + page - 1) / page;
  std::vector<unsigned char> in_core(r.n_pages);
  if (mincore(const_cast<std::byte*>(data_), size_, in_core.data()) != 0) return r;
  for (const unsigned char c : in_core) r.n_resident += c & 1;
  return r;
}

void release_pages(std::span<const std::byte> mapped) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(mapped.data());
  const uintptr_t first = (begin + page - 1) & ~(page - 1), last = (begin + mapped.size()) & ~(page - 1);
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace ridge
