// unpack and dot of any format that has each(); included after one of the SIMD vec_*.h. unpack stores the vectors, dot
// multiplies them in registers; so both see the same bits.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

template <class Format>
void unpack_blocks(const uint8_t* blocks, int64_t n, float* out) {
  using Block = typename Format::Block;
  const auto* b = reinterpret_cast<const Block*>(blocks);
  for (int64_t i = 0; i < n; i += Block::kElems, ++b) {
    Format::each(b, [&](int at, V v) RIDGE_INLINE_LAMBDA { store(out + i + at, v); });
  }
}

// The four rows that come next, into L2: the hardware loses the thread between rows of a few KiB. Past the end it is
// harmless.
template <class Block>
RIDGE_INLINE void prefetch_next(const Block* b, int64_t stride) {
  const uint8_t* p = reinterpret_cast<const uint8_t*>(b) + 4 * stride;
  for (unsigned at = 0; at < sizeof(Block); at += 64) __builtin_prefetch(p + at, 0, 2);
}

template <class Format, int kRows>
RIDGE_INLINE void dot_blocks_rows(const uint8_t* w, int64_t stride, int64_t n, const float* x, float* y) {
  using Block = typename Format::Block;
  static_assert(kSumChunk % Block::kElems == 0);
  for (int64_t at = 0; at < n || at == 0; at += kSumChunk) {
    const int64_t end = n - at < kSumChunk ? n : at + kSumChunk;
    V sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = zero();
    for (int64_t k = at; k < end; k += Block::kElems) {
      for (int r = 0; r < kRows; ++r) {
        const auto* b = reinterpret_cast<const Block*>(w + r * stride) + k / Block::kElems;
        prefetch_next(b, stride);
        V s = sum[r];
        Format::each(b, [&](int i, V v) RIDGE_INLINE_LAMBDA { s = fma(v, load(x + k + i), s); });
        sum[r] = s;
      }
    }
    if constexpr (kRows == 4) {
      sum_lanes4(sum[0], sum[1], sum[2], sum[3], y, at == 0);
    } else {
      y[0] = at == 0 ? sum_lanes(sum[0]) : y[0] + sum_lanes(sum[0]);
    }
  }
}

template <class Format>
void dot_blocks(PackedRows w, int64_t n, const float* x, float* y) {
  int32_t r = 0;
  for (; r + 4 <= w.rows; r += 4) dot_blocks_rows<Format, 4>(w.data + r * w.stride, w.stride, n, x, y + r);
  for (; r < w.rows; ++r) dot_blocks_rows<Format, 1>(w.data + r * w.stride, w.stride, n, x, y + r);
}

template <class Format>
constexpr FormatKernels block_kernels() {
  return {unpack_blocks<Format>, dot_blocks<Format>};
}

}  // namespace
}  // namespace ridge::cpu
