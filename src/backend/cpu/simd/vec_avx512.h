// Vectors of 16 floats for files compiled with the avx512 flags (F, BW, DQ, VL). The same names as vec_avx2.h,
// vec_neon.h and vec_scalar.h: a kernel body is written once against them. Everything has internal linkage and is
// always inlined (see kernel_set.h).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/attributes.h"

namespace ridge::cpu {
namespace {

using V = __m512;
constexpr int kLanes = 16;
constexpr int kTileRows = 4, kTileCols = 6;  // 24 sums, 6 activations, 1 weight: 31 of 32 registers
constexpr int kValueVecs = 4;                // attention: 4 rows x 4 vectors of sums

RIDGE_INLINE V zero() {
  return _mm512_setzero_ps();
}
RIDGE_INLINE V set1(float x) {
  return _mm512_set1_ps(x);
}
RIDGE_INLINE __mmask16 first_lanes(int n) {
  return static_cast<__mmask16>((1u << n) - 1u);
}
RIDGE_INLINE V load(const float* p) {
  return _mm512_loadu_ps(p);
}
RIDGE_INLINE V load_n(const float* p, int n) {
  return _mm512_maskz_loadu_ps(first_lanes(n), p);
}  // n < kLanes, rest 0
RIDGE_INLINE void store(float* p, V v) {
  _mm512_storeu_ps(p, v);
}
RIDGE_INLINE void store_n(float* p, V v, int n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), v);
}
RIDGE_INLINE V add(V a, V b) {
  return _mm512_add_ps(a, b);
}
RIDGE_INLINE V sub(V a, V b) {
  return _mm512_sub_ps(a, b);
}
RIDGE_INLINE V mul(V a, V b) {
  return _mm512_mul_ps(a, b);
}
RIDGE_INLINE V div(V a, V b) {
  return _mm512_div_ps(a, b);
}
RIDGE_INLINE V fma(V a, V b, V c) {
  return _mm512_fmadd_ps(a, b, c);
}  // a * b + c
RIDGE_INLINE V fnma(V a, V b, V c) {
  return _mm512_fnmadd_ps(a, b, c);
}  // c - a * b
RIDGE_INLINE V max_of(V bound, V x) {
  return _mm512_max_ps(bound, x);
}  // a NaN in x stays
RIDGE_INLINE V min_of(V bound, V x) {
  return _mm512_min_ps(bound, x);
}
RIDGE_INLINE V round_even(V x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
RIDGE_INLINE V if_less(V a, V b, V then, V otherwise) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, then);
}
RIDGE_INLINE V abs_of(V x) {
  return _mm512_abs_ps(x);
}
RIDGE_INLINE V copy_sign(V magnitude, V sign) {
  return _mm512_or_ps(_mm512_andnot_ps(set1(-0.0f), magnitude), _mm512_and_ps(set1(-0.0f), sign));
}
// 2^n for whole n in [-126, 127].
RIDGE_INLINE V pow2(V n) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23));
}
RIDGE_INLINE float max_lane(V v) {
  return _mm512_reduce_max_ps(v);
}

// The fold of kernel_set.h: 16 -> 8 -> 4 lanes by halves, then (0 + 2) + (1 + 3).
RIDGE_INLINE __m128 fold(V v) {
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
RIDGE_INLINE float sum_lanes(V v) {
  const __m128 f = fold(v), pair = _mm_add_ps(f, _mm_movehl_ps(f, f));
  return _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps(pair, pair, 1)));
}
// y[i] = (first ? 0 : y[i]) + sum_lanes(v_i), the same bits.
RIDGE_INLINE void sum_lanes4(V v0, V v1, V v2, V v3, float* y, bool first) {
  const __m128 a = fold(v0), b = fold(v1), c = fold(v2), d = fold(v3);
  const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
  const __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
  const __m128 s = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
  _mm_storeu_ps(y, first ? s : _mm_add_ps(_mm_loadu_ps(y), s));
}

// 16 bytes, the unit in which quantised blocks are taken apart.
using B16 = __m128i;
RIDGE_INLINE B16 bytes_load(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
RIDGE_INLINE B16 bytes_set1(int x) {
  return _mm_set1_epi8(static_cast<char>(x));
}
RIDGE_INLINE B16 bytes_and(B16 a, B16 b) {
  return _mm_and_si128(a, b);
}
RIDGE_INLINE B16 bytes_or(B16 a, B16 b) {
  return _mm_or_si128(a, b);
}
RIDGE_INLINE B16 bytes_sub(B16 a, B16 b) {
  return _mm_sub_epi8(a, b);
}
template <int kBits>
RIDGE_INLINE B16 bytes_shr(B16 a) {
  return _mm_and_si128(_mm_srli_epi16(a, kBits), bytes_set1(0xFF >> kBits));
}
template <int kBits>
RIDGE_INLINE B16 bytes_shl(B16 a) {
  return _mm_and_si128(_mm_slli_epi16(a, kBits), bytes_set1(0xFF << kBits));
}
RIDGE_INLINE B16 bytes_lookup(B16 table, B16 index) {
  return _mm_shuffle_epi8(table, index);
}  // index 0..15
// 0xFF where all bits of mask are set.
RIDGE_INLINE B16 bytes_has(B16 a, B16 mask) {
  return _mm_cmpeq_epi8(_mm_and_si128(a, mask), mask);
}
// Byte i: 0xFF where bit i of the word is set.
RIDGE_INLINE B16 bytes_from_bits(uint32_t bits) {
  return _mm_movm_epi8(static_cast<__mmask16>(bits));
}
// f(i, vector) for 16 signed bytes, i counting elements from `at`.
template <class F>
RIDGE_INLINE void floats_from_bytes(int at, B16 b, F f) {
  f(at, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(b)));
}

RIDGE_INLINE float float_from_half(uint16_t h) {
  return _cvtsh_ss(h);
}
RIDGE_INLINE V load_f16(const uint8_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
RIDGE_INLINE V load_f16_n(const uint8_t* p, int n) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(n), p));
}
RIDGE_INLINE V widen_bf16(__m256i h) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
RIDGE_INLINE V load_bf16(const uint8_t* p) {
  return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
RIDGE_INLINE V load_bf16_n(const uint8_t* p, int n) {
  return widen_bf16(_mm256_maskz_loadu_epi16(first_lanes(n), p));
}
// The low n of 16 words; every NaN becomes the one that quant/ writes.
RIDGE_INLINE void store_f16_n(uint8_t* p, V v, int n) {
  const V nan = _mm512_or_ps(_mm512_and_ps(v, set1(-0.0f)), _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000)));
  const V x = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), v, nan);
  _mm256_mask_storeu_epi16(p, first_lanes(n), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
RIDGE_INLINE void store_bf16_n(uint8_t* p, V v, int n) {
  const __m512i bits = _mm512_castps_si512(v), high = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
  const __m512i rounded =
      _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd), 16);
  const __m512i r = _mm512_mask_blend_epi32(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), rounded,
                                            _mm512_or_si512(high, _mm512_set1_epi32(0x40)));
  _mm256_mask_storeu_epi16(p, first_lanes(n), _mm512_cvtepi32_epi16(r));
}

// (even, odd) elements of 2 * kLanes consecutive floats, and back.
RIDGE_INLINE void load_pairs(const float* p, V* even, V* odd) {
  const V a = load(p), b = load(p + 16);
  const __m512i e = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  *even = _mm512_permutex2var_ps(a, e, b);
  *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(e, _mm512_set1_epi32(1)), b);
}
RIDGE_INLINE void store_pairs(float* p, V even, V odd) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  store(p, _mm512_permutex2var_ps(even, low, odd));
  store(p + 16, _mm512_permutex2var_ps(even, _mm512_add_epi32(low, _mm512_set1_epi32(8)), odd));
}

}  // namespace
}  // namespace ridge::cpu
