// Panels times packed activations with VPDPBUSD, for files with the avx512_vnni flags: panel_layout.h says how both
// lie. A result is defined without regard to columns, rows and threads: blocks of 32 in ascending order, each first
// whole in integers (exact), then scaled by the weight's scale in f32, then added as scale of the activations * block
// by fma.
#pragma once

#include "backend/cpu/kernel_set.h"
#include "backend/cpu/matmul/panel_layout.h"
#include "base/attributes.h"
#include "quant/iq_tables.h"

namespace ridge::cpu {
namespace {

// Weights are asked for this far ahead of their use. Far enough for a memory access, near enough not to leave L1.
constexpr int kPrefetchBytes = 4096;

RIDGE_INLINE __m512 halves_at(const uint8_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
RIDGE_INLINE __m512 unsigned_at(const uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
RIDGE_INLINE __m512 signed_at(const uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

// ---- the levels of a block, one vector a group

RIDGE_INLINE void nibbles(const uint8_t* p, __m512i (&u)[8]) {
  const __m512i low = _mm512_set1_epi8(15);
  for (int j = 0; j < 4; ++j) {
    const __m512i v = _mm512_loadu_si512(p + 64 * j);
    u[2 * j] = _mm512_and_si512(v, low);
    u[2 * j + 1] = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
  }
}
RIDGE_INLINE void looked_up(const uint8_t* p, __m512i table, __m512i (&u)[8]) {
  nibbles(p, u);
  for (__m512i& v : u) v = _mm512_shuffle_epi8(table, v);
}
// The values of iq4_nl and iq4_xs, 128 higher, which makes them unsigned.
RIDGE_INLINE __m512i iq4_table() {
  const __m128i values = _mm_load_si128(reinterpret_cast<const __m128i*>(quant::kIq4Values.value));
  return _mm512_broadcast_i32x4(_mm_xor_si128(values, _mm_set1_epi8(-128)));
}
// u += value where the group's bit is set.
RIDGE_INLINE void add_bits(const uint8_t* p, char value, __m512i (&u)[8]) {
  const auto* bits = reinterpret_cast<const __mmask64*>(p);
  for (int i = 0; i < 8; ++i) u[i] = _mm512_mask_add_epi8(u[i], bits[i], u[i], _mm512_set1_epi8(value));
}
RIDGE_INLINE void pairs(const uint8_t* p, __m512i (&u)[8]) {
  const __m512i low = _mm512_set1_epi8(3);
  for (int h = 0; h < 2; ++h) {
    const __m512i v = _mm512_loadu_si512(p + 64 * h);
    u[4 * h] = _mm512_and_si512(v, low);
    u[4 * h + 1] = _mm512_and_si512(_mm512_srli_epi16(v, 2), low);
    u[4 * h + 2] = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
    u[4 * h + 3] = _mm512_and_si512(_mm512_srli_epi16(v, 6), low);
  }
}
// u |= the pairs at p as bits 4 and 5.
RIDGE_INLINE void add_pairs(const uint8_t* p, __m512i (&u)[8]) {
  const __m512i high = _mm512_set1_epi8(0x30);
  for (int h = 0; h < 2; ++h) {
    const __m512i v = _mm512_loadu_si512(p + 64 * h);
    u[4 * h] = _mm512_or_si512(u[4 * h], _mm512_and_si512(_mm512_slli_epi16(v, 4), high));
    u[4 * h + 1] = _mm512_or_si512(u[4 * h + 1], _mm512_and_si512(_mm512_slli_epi16(v, 2), high));
    u[4 * h + 2] = _mm512_or_si512(u[4 * h + 2], _mm512_and_si512(v, high));
    u[4 * h + 3] = _mm512_or_si512(u[4 * h + 3], _mm512_and_si512(_mm512_srli_epi16(v, 2), high));
  }
}

// ---- one column's block: words of the other columns lie between, N apart

struct Column {
  const int32_t* words;
  int n;
  RIDGE_INLINE __m512i integers(int word) const { return _mm512_set1_epi32(words[word * n]); }
  RIDGE_INLINE __m512 floats(int word) const { return _mm512_castsi512_ps(_mm512_set1_epi32(words[word * n])); }
};

template <int kFirst, int kGroups>
RIDGE_INLINE __m512i dot(__m512i sum, const __m512i (&u)[8], const Column& x) {
#pragma GCC unroll 8
  for (int i = kFirst; i < kFirst + kGroups; ++i) sum = _mm512_dpbusd_epi32(sum, u[i], x.integers(i));
  return sum;
}

// x = scale * (u - 2^kOffset)
template <int kOffset>
struct Offset {
  __m512 scale;
  RIDGE_INLINE __m512 product(const __m512i (&u)[8], const Column& x) const {
    const __m512i sum = dot<0, 8>(_mm512_slli_epi32(x.integers(kWordSum), kOffset), u, x);
    return _mm512_mul_ps(scale, _mm512_cvtepi32_ps(sum));
  }
};
// x = scale * u - minimum
struct Minimum {
  __m512 scale, minimum;
  RIDGE_INLINE __m512 product(const __m512i (&u)[8], const Column& x) const {
    const __m512 sum = _mm512_cvtepi32_ps(dot<0, 8>(_mm512_setzero_si512(), u, x));
    return _mm512_fmadd_ps(minimum, x.floats(kWordSumFloat), _mm512_mul_ps(scale, sum));
  }
};
// The same with a scale for each half of the block.
template <int kOffset>
struct OffsetHalves {
  __m512 first, second;
  RIDGE_INLINE __m512 product(const __m512i (&u)[8], const Column& x) const {
    const __m512i a = dot<0, 4>(_mm512_slli_epi32(x.integers(kWordSumFirst), kOffset), u, x);
    const __m512i b = dot<4, 4>(_mm512_slli_epi32(x.integers(kWordSumSecond), kOffset), u, x);
    return _mm512_fmadd_ps(second, _mm512_cvtepi32_ps(b), _mm512_mul_ps(first, _mm512_cvtepi32_ps(a)));
  }
};
struct MinimumHalves {
  __m512 first, second, min_first, min_second;
  RIDGE_INLINE __m512 product(const __m512i (&u)[8], const Column& x) const {
    const __m512i a = dot<0, 4>(_mm512_setzero_si512(), u, x), b = dot<4, 4>(_mm512_setzero_si512(), u, x);
    __m512 sum = _mm512_fmadd_ps(second, _mm512_cvtepi32_ps(b), _mm512_mul_ps(first, _mm512_cvtepi32_ps(a)));
    sum = _mm512_fmadd_ps(min_first, _mm512_cvtepi32_ps(x.integers(kWordSumFirst)), sum);
    return _mm512_fmadd_ps(min_second, _mm512_cvtepi32_ps(x.integers(kWordSumSecond)), sum);
  }
};

template <int N>
RIDGE_INLINE void store_columns(const __m512 (&sum)[N], int32_t n_cols, float* y, int64_t y_stride, __mmask16 rows) {
#pragma GCC unroll 12
  for (int c = 0; c < N; ++c) {
    if (c < n_cols) _mm512_mask_storeu_ps(y + c * y_stride, rows, sum[c]);
  }
}

// N columns. F: kShape; Head, head(scales): what holds for a record; levels(p, u); scale(head, scales, b): of block b.
template <class F, int N>
void multiply_columns(const PanelSlice& w, const int32_t* x, int32_t n_cols, float* y, int64_t y_stride, __mmask16 rows,
                      bool first) {
  constexpr size_t kLevels = level_bytes(F::kShape.bits);
  __m512 sum[N];
#pragma GCC unroll 12
  for (int c = 0; c < N; ++c)
    sum[c] = first || c >= n_cols ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(rows, y + c * y_stride);
  const uint8_t* p = w.records;
  for (int32_t left = w.n_blocks; left > 0; left -= F::kShape.blocks) {
    const uint8_t* scales = p;
    const auto head = F::head(scales);
    for (int at = 0; at < F::kShape.scale_bytes; at += 64)
      _mm_prefetch(reinterpret_cast<const char*>(p + kPrefetchBytes + at), _MM_HINT_T0);
    p += F::kShape.scale_bytes;
    for (int b = 0; b < F::kShape.blocks; ++b, p += kLevels) {
      if (F::kShape.blocks < 8 && b >= left) return store_columns<N>(sum, n_cols, y, y_stride, rows);
      for (size_t at = 0; at < kLevels; at += 64)
        _mm_prefetch(reinterpret_cast<const char*>(p + kPrefetchBytes + at), _MM_HINT_T0);
      __m512i u[8];
      F::levels(p, u);
      const auto scale = F::scale(head, scales, b);
#pragma GCC unroll 12
      for (int c = 0; c < N; ++c) {
        const Column column = {x + c, N};
        sum[c] = _mm512_fmadd_ps(column.floats(kWordScale), scale.product(u, column), sum[c]);
      }
      x += kPackedWords * N;
    }
  }
  store_columns<N>(sum, n_cols, y, y_stride, rows);
}

template <class F>
void multiply_panel(const PanelSlice& w, const int32_t* x, int32_t n_cols, float* y, int64_t y_stride, int32_t n_rows,
                    bool first) {
  const auto rows = static_cast<__mmask16>((1u << n_rows) - 1u);
  switch (panel_width(n_cols)) {
    case 1:
      return multiply_columns<F, 1>(w, x, n_cols, y, y_stride, rows, first);
    case 2:
      return multiply_columns<F, 2>(w, x, n_cols, y, y_stride, rows, first);
    case 3:
      return multiply_columns<F, 3>(w, x, n_cols, y, y_stride, rows, first);
    case 4:
      return multiply_columns<F, 4>(w, x, n_cols, y, y_stride, rows, first);
    case 6:
      return multiply_columns<F, 6>(w, x, n_cols, y, y_stride, rows, first);
    case 8:
      return multiply_columns<F, 8>(w, x, n_cols, y, y_stride, rows, first);
    default:
      return multiply_columns<F, 12>(w, x, n_cols, y, y_stride, rows, first);
  }
}

}  // namespace
}  // namespace ridge::cpu
