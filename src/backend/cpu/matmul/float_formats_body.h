// unpack and dot for f32, f16 and bf16; included after one of the SIMD vec_*.h. Any number of elements.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

struct F32Reader {
  static constexpr int kBytes = 4;
  static RIDGE_INLINE V whole(const uint8_t* p) { return load(reinterpret_cast<const float*>(p)); }
  static RIDGE_INLINE V part(const uint8_t* p, int n) { return load_n(reinterpret_cast<const float*>(p), n); }
};
struct F16Reader {
  static constexpr int kBytes = 2;
  static RIDGE_INLINE V whole(const uint8_t* p) { return load_f16(p); }
  static RIDGE_INLINE V part(const uint8_t* p, int n) { return load_f16_n(p, n); }
};
struct Bf16Reader {
  static constexpr int kBytes = 2;
  static RIDGE_INLINE V whole(const uint8_t* p) { return load_bf16(p); }
  static RIDGE_INLINE V part(const uint8_t* p, int n) { return load_bf16_n(p, n); }
};

template <class Reader>
void unpack_floats(const uint8_t* blocks, int64_t n, float* out) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store(out + k, Reader::whole(blocks + k * Reader::kBytes));
  if (k < n)
    store_n(out + k, Reader::part(blocks + k * Reader::kBytes, static_cast<int>(n - k)), static_cast<int>(n - k));
}

// kRows rows side by side: one sum a row is a chain of dependent additions, several hide its latency.
template <class Reader, int kRows>
RIDGE_INLINE void dot_floats_rows(const uint8_t* w, int64_t stride, int64_t n, const float* x, float* y) {
  for (int64_t at = 0; at < n || at == 0; at += kSumChunk) {
    const int64_t end = n - at < kSumChunk ? n : at + kSumChunk;
    V sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = zero();
    int64_t k = at;
    for (; k + kLanes <= end; k += kLanes) {
      const V a = load(x + k);
      for (int r = 0; r < kRows; ++r) {
        const uint8_t* p = w + r * stride + k * Reader::kBytes;
        __builtin_prefetch(p + 4 * stride, 0, 2);  // the rows that come next, into L2; past the end it is harmless
        sum[r] = fma(Reader::whole(p), a, sum[r]);
      }
    }
    if (k < end) {
      const int rest = static_cast<int>(end - k);
      const V a = load_n(x + k, rest);
      for (int r = 0; r < kRows; ++r) sum[r] = fma(Reader::part(w + r * stride + k * Reader::kBytes, rest), a, sum[r]);
    }
    if constexpr (kRows == 4) {
      sum_lanes4(sum[0], sum[1], sum[2], sum[3], y, at == 0);
    } else {
      y[0] = at == 0 ? sum_lanes(sum[0]) : y[0] + sum_lanes(sum[0]);
    }
  }
}

template <class Reader>
void dot_floats(PackedRows w, int64_t n, const float* x, float* y) {
  int32_t r = 0;
  for (; r + 4 <= w.rows; r += 4) dot_floats_rows<Reader, 4>(w.data + r * w.stride, w.stride, n, x, y + r);
  for (; r < w.rows; ++r) dot_floats_rows<Reader, 1>(w.data + r * w.stride, w.stride, n, x, y + r);
}

template <class Reader>
constexpr FormatKernels float_kernels() {
  return {unpack_floats<Reader>, dot_floats<Reader>};
}

}  // namespace
}  // namespace ridge::cpu
