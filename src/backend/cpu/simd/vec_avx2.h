// Vectors of 8 floats for files compiled with the avx2 flags (AVX2, FMA, F16C). The same names as vec_avx512.h, where
// they are explained. Everything has internal linkage and is always inlined (see kernel_set.h).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/attributes.h"

namespace ridge::cpu {
namespace {

using V = __m256;
constexpr int kLanes = 8;
constexpr int kTileRows = 4, kTileCols = 3;  // 12 sums, 3 activations, 1 weight: all 16 registers
constexpr int kValueVecs = 2;

RIDGE_INLINE V zero() {
  return _mm256_setzero_ps();
}
RIDGE_INLINE V set1(float x) {
  return _mm256_set1_ps(x);
}
RIDGE_INLINE __m256i first_lanes(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
RIDGE_INLINE V load(const float* p) {
  return _mm256_loadu_ps(p);
}
RIDGE_INLINE V load_n(const float* p, int n) {
  return _mm256_maskload_ps(p, first_lanes(n));
}
RIDGE_INLINE void store(float* p, V v) {
  _mm256_storeu_ps(p, v);
}
RIDGE_INLINE void store_n(float* p, V v, int n) {
  _mm256_maskstore_ps(p, first_lanes(n), v);
}
RIDGE_INLINE V add(V a, V b) {
  return _mm256_add_ps(a, b);
}
RIDGE_INLINE V sub(V a, V b) {
  return _mm256_sub_ps(a, b);
}
RIDGE_INLINE V mul(V a, V b) {
  return _mm256_mul_ps(a, b);
}
RIDGE_INLINE V div(V a, V b) {
  return _mm256_div_ps(a, b);
}
RIDGE_INLINE V fma(V a, V b, V c) {
  return _mm256_fmadd_ps(a, b, c);
}
RIDGE_INLINE V fnma(V a, V b, V c) {
  return _mm256_fnmadd_ps(a, b, c);
}
RIDGE_INLINE V max_of(V bound, V x) {
  return _mm256_max_ps(bound, x);
}
RIDGE_INLINE V min_of(V bound, V x) {
  return _mm256_min_ps(bound, x);
}
RIDGE_INLINE V round_even(V x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
RIDGE_INLINE V if_less(V a, V b, V then, V otherwise) {
  return _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
RIDGE_INLINE V abs_of(V x) {
  return _mm256_andnot_ps(set1(-0.0f), x);
}
RIDGE_INLINE V copy_sign(V magnitude, V sign) {
  return _mm256_or_ps(_mm256_andnot_ps(set1(-0.0f), magnitude), _mm256_and_ps(set1(-0.0f), sign));
}
RIDGE_INLINE V pow2(V n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
RIDGE_INLINE float max_lane(V v) {
  const __m128 f = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)),
               pair = _mm_max_ps(f, _mm_movehl_ps(f, f));
  return _mm_cvtss_f32(_mm_max_ss(pair, _mm_shuffle_ps(pair, pair, 1)));
}

// The fold of kernel_set.h: 8 -> 4 lanes by halves, then (0 + 2) + (1 + 3).
RIDGE_INLINE __m128 fold(V v) {
  return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}
RIDGE_INLINE float sum_lanes(V v) {
  const __m128 f = fold(v), pair = _mm_add_ps(f, _mm_movehl_ps(f, f));
  return _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps(pair, pair, 1)));
}
RIDGE_INLINE void sum_lanes4(V v0, V v1, V v2, V v3, float* y, bool first) {
  const __m128 a = fold(v0), b = fold(v1), c = fold(v2), d = fold(v3);
  const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
  const __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
  const __m128 s = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
  _mm_storeu_ps(y, first ? s : _mm_add_ps(_mm_loadu_ps(y), s));
}

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
}
RIDGE_INLINE B16 bytes_has(B16 a, B16 mask) {
  return _mm_cmpeq_epi8(_mm_and_si128(a, mask), mask);
}
RIDGE_INLINE B16 bytes_from_bits(uint32_t bits) {
  const B16 spread = _mm_shuffle_epi8(_mm_cvtsi32_si128(static_cast<int>(bits)),
                                      _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
  return bytes_has(spread, _mm_set1_epi64x(static_cast<long long>(0x8040201008040201ULL)));
}
template <class F>
RIDGE_INLINE void floats_from_bytes(int at, B16 b, F f) {
  f(at, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(b)));
  f(at + 8, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(b, b))));
}

RIDGE_INLINE float float_from_half(uint16_t h) {
  return _cvtsh_ss(h);
}
// n < 8 words, the rest zeros, without touching a byte past the end.
RIDGE_INLINE __m128i load_words(const uint8_t* p, int n) {
  uint16_t words[8] = {};
  __builtin_memcpy(words, p, static_cast<unsigned>(n) * 2u);
  return bytes_load(words);
}
RIDGE_INLINE V load_f16(const uint8_t* p) {
  return _mm256_cvtph_ps(bytes_load(p));
}
RIDGE_INLINE V load_f16_n(const uint8_t* p, int n) {
  return _mm256_cvtph_ps(load_words(p, n));
}
RIDGE_INLINE V widen_bf16(__m128i h) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
RIDGE_INLINE V load_bf16(const uint8_t* p) {
  return widen_bf16(bytes_load(p));
}
RIDGE_INLINE V load_bf16_n(const uint8_t* p, int n) {
  return widen_bf16(load_words(p, n));
}
RIDGE_INLINE void store_words(uint8_t* p, __m128i words, int n) {
  alignas(16) uint16_t w[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(w), words);
  __builtin_memcpy(p, w, static_cast<unsigned>(n) * 2u);
}
RIDGE_INLINE void store_f16_n(uint8_t* p, V v, int n) {
  const V nan = _mm256_or_ps(_mm256_and_ps(v, set1(-0.0f)), _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)));
  const V x = _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  store_words(p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), n);
}
RIDGE_INLINE void store_bf16_n(uint8_t* p, V v, int n) {
  const __m256i bits = _mm256_castps_si256(v), high = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
  const __m256i rounded =
      _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd), 16);
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i r = _mm256_blendv_epi8(rounded, _mm256_or_si256(high, _mm256_set1_epi32(0x40)), is_nan);
  store_words(p, _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1)), n);
}

RIDGE_INLINE void load_pairs(const float* p, V* even, V* odd) {
  const V a = load(p), b = load(p + 8);
  const V low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
  *even = _mm256_shuffle_ps(low, high, 0x88);
  *odd = _mm256_shuffle_ps(low, high, 0xDD);
}
RIDGE_INLINE void store_pairs(float* p, V even, V odd) {
  const V low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
  store(p, _mm256_permute2f128_ps(low, high, 0x20));
  store(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}

}  // namespace
}  // namespace ridge::cpu
