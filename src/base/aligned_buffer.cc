#include "base/aligned_buffer.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ridge {
namespace {
std::atomic<long> g_fail_from{0};
std::atomic<long> g_count{0};

// From here on a buffer begins on a huge page and asks for them: a weight's copy of 142 MB is then 70 page faults
// instead of 35 thousand.
constexpr size_t kHugePage = size_t{2} << 20;
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
  const size_t align = n_bytes >= 2 * kHugePage && n_bytes <= SIZE_MAX - kHugePage ? kHugePage : kBufferAlign;
  const size_t rounded = (n_bytes + align - 1) / align * align;
  b.data_ = static_cast<std::byte*>(std::aligned_alloc(align, rounded));
  if (b.data_ == nullptr) return fail(ErrorCode::out_of_memory, "no memory for {} bytes", n_bytes);
#ifdef __linux__
  if (align == kHugePage) ::madvise(b.data_, rounded, MADV_HUGEPAGE);  // advice: a refusal changes nothing
#endif
  std::memset(b.data_, 0, rounded);
  b.size_ = n_bytes;
  return b;
}

}  // namespace ridge
