// Activations to int8, packed as panel_layout.h says.
#include <immintrin.h>

#include <cfloat>

#include "backend/cpu/kernel_set.h"
#include "backend/cpu/matmul/panel_layout.h"
#include "base/attributes.h"

namespace ridge::cpu {
namespace {

constexpr uint32_t kInfinityBits = 0x7F800000u, kNanBits = 0x7FC00000u;

RIDGE_INLINE int32_t bits_of(float x) {
  return _mm_cvtsi128_si32(_mm_castps_si128(_mm_set_ss(x)));
}

// One block of one column; `out` is its first word, the words lie `width` apart.
RIDGE_INLINE void pack_block(const float* x, int32_t width, int32_t* out) {
  const __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + 16);
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  // Of magnitudes the order of the bits is the order of the numbers, and NaN comes after infinity.
  const uint32_t largest = _mm512_reduce_max_epu32(_mm512_max_epu32(
      _mm512_and_si512(_mm512_castps_si512(a), magnitude), _mm512_and_si512(_mm512_castps_si512(b), magnitude)));
  const float most = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int32_t>(largest))));
  float scale = most / 127.0f, inverse = 127.0f / most;
  if (largest >= kInfinityBits || scale < FLT_MIN) {  // not a number, or too small for a scale: NaN, or zero
    inverse = 0.0f;
    scale = 0.0f;
  }
  const bool finite = largest < kInfinityBits;
  const __mmask16 keep = finite ? 0xFFFF : 0;  // infinity times zero would be an integer of its own
  const __m512 inv = _mm512_set1_ps(inverse);
  const __m512i p = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(a, inv));
  const __m512i q = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(b, inv));
  alignas(32) int32_t words[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(words), _mm512_cvtepi32_epi8(p));
  _mm_store_si128(reinterpret_cast<__m128i*>(words + 4), _mm512_cvtepi32_epi8(q));
  for (int i = 0; i < 8; ++i) out[i * width] = words[i];
  const int32_t first = -_mm512_reduce_add_epi32(p), second = -_mm512_reduce_add_epi32(q);
  out[kWordScale * width] = finite ? bits_of(scale) : static_cast<int32_t>(kNanBits);
  out[kWordSum * width] = first + second;
  out[kWordSumFirst * width] = first;
  out[kWordSumSecond * width] = second;
  out[kWordSumFloat * width] = bits_of(static_cast<float>(first + second));
}

}  // namespace

void pack_columns__avx512_vnni(const float* x, int64_t stride, int32_t n_cols, int32_t width, int64_t first_block,
                               int64_t end_block, int32_t* out) {
  for (int64_t b = first_block; b < end_block; ++b) {
    int32_t* block = out + b * kPackedWords * width;
    for (int32_t c = 0; c < n_cols; ++c) pack_block(x + c * stride + b * kPanelBlock, width, block + c);
    for (int32_t c = n_cols; c < width; ++c) {
      for (int i = 0; i < kPackedWords; ++i) block[i * width + c] = 0;
    }
  }
}

}  // namespace ridge::cpu
