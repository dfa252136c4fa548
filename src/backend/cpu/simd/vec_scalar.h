// "Vectors" of one float, for machines without any of the other instruction sets. The same names as vec_avx512.h, where
// they are explained; fma is two roundings here, because without the instruction it would be a library call.
#pragma once

#include <cstdint>

#include "base/attributes.h"

namespace ridge::cpu {
namespace {

using V = float;
constexpr int kLanes = 1;
constexpr int kTileRows = 4, kTileCols = 2;
constexpr int kValueVecs = 2;

RIDGE_INLINE V zero() {
  return 0.0f;
}
RIDGE_INLINE V set1(float x) {
  return x;
}
RIDGE_INLINE V load(const float* p) {
  return *p;
}
RIDGE_INLINE V load_n(const float*, int) {
  return 0.0f;
}  // no partial vector exists
RIDGE_INLINE void store(float* p, V v) {
  *p = v;
}
RIDGE_INLINE void store_n(float*, V, int) {}
RIDGE_INLINE V add(V a, V b) {
  return a + b;
}
RIDGE_INLINE V sub(V a, V b) {
  return a - b;
}
RIDGE_INLINE V mul(V a, V b) {
  return a * b;
}
RIDGE_INLINE V div(V a, V b) {
  return a / b;
}
RIDGE_INLINE V fma(V a, V b, V c) {
  return a * b + c;
}
RIDGE_INLINE V fnma(V a, V b, V c) {
  return c - a * b;
}
RIDGE_INLINE V max_of(V bound, V x) {
  return bound > x ? bound : x;
}
RIDGE_INLINE V min_of(V bound, V x) {
  return bound < x ? bound : x;
}
RIDGE_INLINE V round_even(V x) {
  return (x + 12582912.0f) - 12582912.0f;
}  // 1.5 * 2^23; for |x| < 2^22, all that is asked here
RIDGE_INLINE V if_less(V a, V b, V then, V otherwise) {
  return a < b ? then : otherwise;
}
RIDGE_INLINE V abs_of(V x) {
  return __builtin_fabsf(x);
}
RIDGE_INLINE V copy_sign(V magnitude, V sign) {
  return __builtin_copysignf(magnitude, sign);
}
RIDGE_INLINE V pow2(V n) {
  const int whole = n == n ? static_cast<int>(n) : 0;  // NaN has no integer; its product stays NaN
  return __builtin_bit_cast(float, static_cast<uint32_t>(whole + 127) << 23);
}
RIDGE_INLINE float max_lane(V v) {
  return v;
}
RIDGE_INLINE float sum_lanes(V v) {
  return v;
}
RIDGE_INLINE void sum_lanes4(V v0, V v1, V v2, V v3, float* y, bool first) {
  y[0] = first ? v0 : y[0] + v0;
  y[1] = first ? v1 : y[1] + v1;
  y[2] = first ? v2 : y[2] + v2;
  y[3] = first ? v3 : y[3] + v3;
}
RIDGE_INLINE void load_pairs(const float* p, V* even, V* odd) {
  *even = p[0];
  *odd = p[1];
}
RIDGE_INLINE void store_pairs(float* p, V even, V odd) {
  p[0] = even;
  p[1] = odd;
}

}  // namespace
}  // namespace ridge::cpu
