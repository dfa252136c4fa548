// Vectors of 4 floats for aarch64 (ARMv8-A, no extensions). The same names as vec_avx512.h, where they are explained.
// Everything has internal linkage and is always inlined (see kernel_set.h).
#pragma once

#include <arm_neon.h>

#include <cstdint>

#include "base/attributes.h"

namespace ridge::cpu {
namespace {

using V = float32x4_t;
constexpr int kLanes = 4;
constexpr int kTileRows = 4, kTileCols = 6;  // 24 sums, 6 activations, 1 weight: 31 of 32 registers
constexpr int kValueVecs = 4;

RIDGE_INLINE V zero() {
  return vdupq_n_f32(0.0f);
}
RIDGE_INLINE V set1(float x) {
  return vdupq_n_f32(x);
}
RIDGE_INLINE V load(const float* p) {
  return vld1q_f32(p);
}
RIDGE_INLINE V load_n(const float* p, int n) {
  float t[4] = {};
  __builtin_memcpy(t, p, static_cast<unsigned>(n) * 4u);
  return vld1q_f32(t);
}
RIDGE_INLINE void store(float* p, V v) {
  vst1q_f32(p, v);
}
RIDGE_INLINE void store_n(float* p, V v, int n) {
  float t[4];
  vst1q_f32(t, v);
  __builtin_memcpy(p, t, static_cast<unsigned>(n) * 4u);
}
RIDGE_INLINE V add(V a, V b) {
  return vaddq_f32(a, b);
}
RIDGE_INLINE V sub(V a, V b) {
  return vsubq_f32(a, b);
}
RIDGE_INLINE V mul(V a, V b) {
  return vmulq_f32(a, b);
}
RIDGE_INLINE V div(V a, V b) {
  return vdivq_f32(a, b);
}
RIDGE_INLINE V fma(V a, V b, V c) {
  return vfmaq_f32(c, a, b);
}
RIDGE_INLINE V fnma(V a, V b, V c) {
  return vfmsq_f32(c, a, b);
}
RIDGE_INLINE V max_of(V bound, V x) {
  return vmaxq_f32(bound, x);
}
RIDGE_INLINE V min_of(V bound, V x) {
  return vminq_f32(bound, x);
}
RIDGE_INLINE V round_even(V x) {
  return vrndnq_f32(x);
}
RIDGE_INLINE V if_less(V a, V b, V then, V otherwise) {
  return vbslq_f32(vcltq_f32(a, b), then, otherwise);
}
RIDGE_INLINE V abs_of(V x) {
  return vabsq_f32(x);
}
RIDGE_INLINE V copy_sign(V magnitude, V sign) {
  return vbslq_f32(vdupq_n_u32(0x80000000u), sign, magnitude);
}
RIDGE_INLINE V pow2(V n) {
  return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23));
}
RIDGE_INLINE float max_lane(V v) {
  return vmaxvq_f32(v);
}

// The fold of kernel_set.h: (0 + 1) + (2 + 3).
RIDGE_INLINE float sum_lanes(V v) {
  const V pairs = vpaddq_f32(v, v);
  return vgetq_lane_f32(pairs, 0) + vgetq_lane_f32(pairs, 1);
}
RIDGE_INLINE void sum_lanes4(V v0, V v1, V v2, V v3, float* y, bool first) {
  const V s = vpaddq_f32(vpaddq_f32(v0, v1), vpaddq_f32(v2, v3));
  vst1q_f32(y, first ? s : vaddq_f32(vld1q_f32(y), s));
}

using B16 = uint8x16_t;
RIDGE_INLINE B16 bytes_load(const void* p) {
  return vld1q_u8(static_cast<const uint8_t*>(p));
}
RIDGE_INLINE B16 bytes_set1(int x) {
  return vdupq_n_u8(static_cast<uint8_t>(x));
}
RIDGE_INLINE B16 bytes_and(B16 a, B16 b) {
  return vandq_u8(a, b);
}
RIDGE_INLINE B16 bytes_or(B16 a, B16 b) {
  return vorrq_u8(a, b);
}
RIDGE_INLINE B16 bytes_sub(B16 a, B16 b) {
  return vsubq_u8(a, b);
}
template <int kBits>
RIDGE_INLINE B16 bytes_shr(B16 a) {
  if constexpr (kBits == 0)
    return a;
  else
    return vshrq_n_u8(a, kBits);
}
template <int kBits>
RIDGE_INLINE B16 bytes_shl(B16 a) {
  return vshlq_n_u8(a, kBits);
}
RIDGE_INLINE B16 bytes_lookup(B16 table, B16 index) {
  return vqtbl1q_u8(table, index);
}
RIDGE_INLINE B16 bytes_has(B16 a, B16 mask) {
  return vceqq_u8(vandq_u8(a, mask), mask);
}
RIDGE_INLINE B16 bytes_from_bits(uint32_t bits) {
  const B16 spread = vcombine_u8(vdup_n_u8(static_cast<uint8_t>(bits)), vdup_n_u8(static_cast<uint8_t>(bits >> 8)));
  return vtstq_u8(spread, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ULL)));
}
template <class F>
RIDGE_INLINE void floats_from_bytes(int at, B16 b, F f) {
  const int8x16_t s = vreinterpretq_s8_u8(b);
  const int16x8_t low = vmovl_s8(vget_low_s8(s)), high = vmovl_high_s8(s);
  f(at, vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))));
  f(at + 4, vcvtq_f32_s32(vmovl_high_s16(low)));
  f(at + 8, vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))));
  f(at + 12, vcvtq_f32_s32(vmovl_high_s16(high)));
}

RIDGE_INLINE uint16x4_t load_words(const uint8_t* p, int n) {
  uint16_t words[4] = {};
  __builtin_memcpy(words, p, static_cast<unsigned>(n) * 2u);
  return vld1_u16(words);
}
RIDGE_INLINE void store_words(uint8_t* p, uint16x4_t words, int n) {
  uint16_t w[4];
  vst1_u16(w, words);
  __builtin_memcpy(p, w, static_cast<unsigned>(n) * 2u);
}
RIDGE_INLINE float float_from_half(uint16_t h) {
  return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(h))), 0);
}
RIDGE_INLINE V load_f16_n(const uint8_t* p, int n) {
  return vcvt_f32_f16(vreinterpret_f16_u16(load_words(p, n)));
}
RIDGE_INLINE V load_f16(const uint8_t* p) {
  return load_f16_n(p, 4);
}
RIDGE_INLINE V load_bf16_n(const uint8_t* p, int n) {
  return vreinterpretq_f32_u32(vshll_n_u16(load_words(p, n), 16));
}
RIDGE_INLINE V load_bf16(const uint8_t* p) {
  return load_bf16_n(p, 4);
}
RIDGE_INLINE void store_f16_n(uint8_t* p, V v, int n) {
  const uint32x4_t bits = vreinterpretq_u32_f32(v);
  const uint32x4_t nan = vorrq_u32(vandq_u32(bits, vdupq_n_u32(0x80000000u)), vdupq_n_u32(0x7FC00000u));
  const V x = vreinterpretq_f32_u32(vbslq_u32(vceqq_f32(v, v), bits, nan));
  store_words(p, vreinterpret_u16_f16(vcvt_f16_f32(x)), n);
}
RIDGE_INLINE void store_bf16_n(uint8_t* p, V v, int n) {
  const uint32x4_t bits = vreinterpretq_u32_f32(v), high = vshrq_n_u32(bits, 16);
  const uint32x4_t odd = vandq_u32(high, vdupq_n_u32(1));
  const uint32x4_t rounded = vshrq_n_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd), 16);
  store_words(p, vmovn_u32(vbslq_u32(vceqq_f32(v, v), rounded, vorrq_u32(high, vdupq_n_u32(0x40)))), n);
}

RIDGE_INLINE void load_pairs(const float* p, V* even, V* odd) {
  const float32x4x2_t t = vld2q_f32(p);
  *even = t.val[0];
  *odd = t.val[1];
}
RIDGE_INLINE void store_pairs(float* p, V even, V odd) {
  vst2q_f32(p, float32x4x2_t{{even, odd}});
}

}  // namespace
}  // namespace ridge::cpu
