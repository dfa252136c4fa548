#include "base/aligned_buffer.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace ridge {
namespace {
std::atomic<long> g_fail_from{0};
std::atomic<long> g_count{0};
}  // namespace

void fail_allocations_from(long nth) {
  g_count = 0;
  g_fail_from = nth;
}

AlignedBuffer::~AlignedBuffer() {
  std::free(data_);
}

Result<AlignedBuffer> AlignedBuffer::allocate(size_t n_bytes) {
  AlignedBuffer b;
  if (n_bytes == 0) return b;
  const long fail_from = g_fail_from.load(std::memory_order_relaxed);
  const bool injected = fail_from > 0 && ++g_count >= fail_from;
  if (injected || n_bytes > SIZE_MAX - kBufferAlign) {
    return fail(ErrorCode::out_of_memory, "no memory for {} bytes", n_bytes);
  }
  const size_t rounded = (n_bytes + kBufferAlign - 1) / kBufferAlign * kBufferAlign;
  b.data_ = static_cast<std::byte*>(std::aligned_alloc(kBufferAlign, rounded));
  if (b.data_ == nullptr) return fail(ErrorCode::out_of_memory, "no memory for {} bytes", n_bytes);
  std::memset(b.data_, 0, rounded);
  b.size_ = n_bytes;
  return b;
}

}  // namespace ridge
