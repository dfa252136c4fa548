// The only place that asks the system for raw memory. Owns it; moves, never copies.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"

namespace ridge {

// 64 bytes: one cache line and one AVX-512 vector.
inline constexpr size_t kBufferAlign = 64;

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer();

  // Zeroed memory. Error: out_of_memory, with the size. Zero bytes give an empty buffer.
  static Result<AlignedBuffer> allocate(size_t n_bytes);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Test hook: the allocation with this number (from now on, counting from 1) and every later one fails; 0 switches it
// off.
void fail_allocations_from(long nth);

}  // namespace ridge
