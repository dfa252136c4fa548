// What the readers of quantised blocks share; included after one of the SIMD vec_*.h.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

RIDGE_INLINE B16 low_nibbles(B16 q) {
  return bytes_and(q, bytes_set1(15));
}
RIDGE_INLINE B16 high_nibbles(B16 q) {
  return bytes_shr<4>(q);
}

// f(at + i, q[i] * scale)
template <class F>
RIDGE_INLINE void scaled(int at, B16 q, V scale, F f) {
  floats_from_bytes(at, q, [&](int i, V v) RIDGE_INLINE_LAMBDA { f(i, mul(v, scale)); });
}
// f(at + i, q[i] * scale + offset)
template <class F>
RIDGE_INLINE void scaled_plus(int at, B16 q, V scale, V offset, F f) {
  floats_from_bytes(at, q, [&](int i, V v) RIDGE_INLINE_LAMBDA { f(i, add(mul(v, scale), offset)); });
}
// f(at + i, q[i] * scale - offset)
template <class F>
RIDGE_INLINE void scaled_minus(int at, B16 q, V scale, V offset, F f) {
  floats_from_bytes(at, q, [&](int i, V v) RIDGE_INLINE_LAMBDA { f(i, sub(mul(v, scale), offset)); });
}
// out[i] = bytes[i] * factor, for the 16 scales of a super-block.
RIDGE_INLINE void scale_table(B16 bytes, float factor, float* out) {
  const V f = set1(factor);
  floats_from_bytes(0, bytes, [&](int i, V v) RIDGE_INLINE_LAMBDA { store(out + i, mul(v, f)); });
}

}  // namespace
}  // namespace ridge::cpu
