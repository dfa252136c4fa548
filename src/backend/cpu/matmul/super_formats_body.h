// How blocks of 256 elements are taken apart: q2_K to q6_K and iq4_xs; included after one of the SIMD vec_*.h. See
// small_formats_body.h for the rule.
#pragma once

#include "backend/cpu/matmul/block_parts_body.h"
#include "quant/iq4_xs.h"
#include "quant/iq_tables.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_k.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"

namespace ridge::cpu {
namespace {

struct Q2K {
  using Block = quant::BlockQ2K;
  template <int kShift, class F>
  static RIDGE_INLINE void group(const uint8_t* qs, const float* scales, const float* minimums, int at, F f) {
    const B16 three = bytes_set1(3);
    for (int g = 0; g < 2; ++g) {
      scaled_minus(at + 16 * g, bytes_and(bytes_shr<kShift>(bytes_load(qs + 16 * g)), three), set1(scales[g]),
                   set1(minimums[g]), f);
    }
  }
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    float scales[16], minimums[16];
    scale_table(low_nibbles(bytes_load(b->scales)), float_from_half(b->d), scales);
    scale_table(high_nibbles(bytes_load(b->scales)), float_from_half(b->dmin), minimums);
    for (int h = 0; h < 2; ++h) {
      const uint8_t* qs = b->qs + 32 * h;
      group<0>(qs, scales + 8 * h, minimums + 8 * h, 128 * h, f);
      group<2>(qs, scales + 8 * h + 2, minimums + 8 * h + 2, 128 * h + 32, f);
      group<4>(qs, scales + 8 * h + 4, minimums + 8 * h + 4, 128 * h + 64, f);
      group<6>(qs, scales + 8 * h + 6, minimums + 8 * h + 6, 128 * h + 96, f);
    }
  }
};

struct Q3K {
  using Block = quant::BlockQ3K;
  template <int kShift, class F>
  static RIDGE_INLINE void group(const Block* b, int k, const float* scales, F f) {
    const B16 three = bytes_set1(3), four = bytes_set1(4), bit = bytes_set1(1 << k);
    const uint8_t* qs = b->qs + 32 * (k / 4);
    for (int g = 0; g < 2; ++g) {
      // low | 4 where the bit is set, then minus 4 everywhere.
      const B16 low = bytes_and(bytes_shr<kShift>(bytes_load(qs + 16 * g)), three);
      const B16 high = bytes_and(bytes_has(bytes_load(b->hmask + 16 * g), bit), four);
      scaled(32 * k + 16 * g, bytes_sub(bytes_or(low, high), four), set1(scales[2 * k + g]), f);
    }
  }
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    float scales[16];
    // Four groups a word: low nibbles of words 0 and 1, their high nibbles; two more bits each from word 2.
    uint32_t in[3], s[4];
    __builtin_memcpy(in, b->scales, 12);
    s[0] = (in[0] & 0x0F0F0F0Fu) | (in[2] & 0x03030303u) << 4;
    s[1] = (in[1] & 0x0F0F0F0Fu) | ((in[2] >> 2) & 0x03030303u) << 4;
    s[2] = ((in[0] >> 4) & 0x0F0F0F0Fu) | ((in[2] >> 4) & 0x03030303u) << 4;
    s[3] = ((in[1] >> 4) & 0x0F0F0F0Fu) | ((in[2] >> 6) & 0x03030303u) << 4;
    scale_table(bytes_sub(bytes_load(s), bytes_set1(32)), float_from_half(b->d), scales);
    for (int h = 0; h < 2; ++h) {
      group<0>(b, 4 * h, scales, f);
      group<2>(b, 4 * h + 1, scales, f);
      group<4>(b, 4 * h + 2, scales, f);
      group<6>(b, 4 * h + 3, scales, f);
    }
  }
};

// The 8 scales and 8 minimums of q4_K and q5_K, times d and dmin.
template <class Block>
RIDGE_INLINE void k_scale_tables(const Block* b, float* scales, float* minimums) {
  // Bytes 0-7 scales, 8-15 minimums, taken apart in words: see k_scales.h for the layout.
  uint32_t in[3], out[4];
  __builtin_memcpy(in, b->scales, 12);
  out[0] = in[0] & 0x3F3F3F3Fu;
  out[1] = (in[2] & 0x0F0F0F0Fu) | ((in[0] >> 2) & 0x30303030u);
  out[2] = in[1] & 0x3F3F3F3Fu;
  out[3] = ((in[2] >> 4) & 0x0F0F0F0Fu) | ((in[1] >> 2) & 0x30303030u);
  float scaled_by_d[16], scaled_by_dmin[16];
  scale_table(bytes_load(out), float_from_half(b->d), scaled_by_d);
  scale_table(bytes_load(out), float_from_half(b->dmin), scaled_by_dmin);
  for (int g = 0; g < 8; ++g) {
    scales[g] = scaled_by_d[g];
    minimums[g] = scaled_by_dmin[8 + g];
  }
}

struct Q4K {
  using Block = quant::BlockQ4K;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    float scales[8], minimums[8];
    k_scale_tables(b, scales, minimums);
    for (int h = 0; h < 4; ++h) {
      const B16 q0 = bytes_load(b->qs + 32 * h), q1 = bytes_load(b->qs + 32 * h + 16);
      V d = set1(scales[2 * h]), m = set1(minimums[2 * h]);
      scaled_minus(64 * h, low_nibbles(q0), d, m, f);
      scaled_minus(64 * h + 16, low_nibbles(q1), d, m, f);
      d = set1(scales[2 * h + 1]), m = set1(minimums[2 * h + 1]);
      scaled_minus(64 * h + 32, high_nibbles(q0), d, m, f);
      scaled_minus(64 * h + 48, high_nibbles(q1), d, m, f);
    }
  }
};

struct Q5K {
  using Block = quant::BlockQ5K;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    float scales[8], minimums[8];
    k_scale_tables(b, scales, minimums);
    const B16 h0 = bytes_load(b->qh), h1 = bytes_load(b->qh + 16), sixteen = bytes_set1(16);
    for (int h = 0; h < 4; ++h) {
      const B16 q0 = bytes_load(b->qs + 32 * h), q1 = bytes_load(b->qs + 32 * h + 16);
      const B16 even = bytes_set1(1 << (2 * h)), odd = bytes_set1(2 << (2 * h));
      V d = set1(scales[2 * h]), m = set1(minimums[2 * h]);
      scaled_minus(64 * h, bytes_or(low_nibbles(q0), bytes_and(bytes_has(h0, even), sixteen)), d, m, f);
      scaled_minus(64 * h + 16, bytes_or(low_nibbles(q1), bytes_and(bytes_has(h1, even), sixteen)), d, m, f);
      d = set1(scales[2 * h + 1]), m = set1(minimums[2 * h + 1]);
      scaled_minus(64 * h + 32, bytes_or(high_nibbles(q0), bytes_and(bytes_has(h0, odd), sixteen)), d, m, f);
      scaled_minus(64 * h + 48, bytes_or(high_nibbles(q1), bytes_and(bytes_has(h1, odd), sixteen)), d, m, f);
    }
  }
};

struct Q6K {
  using Block = quant::BlockQ6K;
  // Elements 16 g .. of quarter k of half h: `low` their low four bits, bits 2 k of `qh` the high two.
  template <int kQuarter, class F>
  static RIDGE_INLINE void group(int at, B16 low, B16 qh, float scale, F f) {
    const B16 high = bytes_shl<4>(bytes_and(bytes_shr<2 * kQuarter>(qh), bytes_set1(3)));
    scaled(at, bytes_sub(bytes_or(low, high), bytes_set1(32)), set1(scale), f);
  }
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    float scales[16];
    scale_table(bytes_load(b->scales), float_from_half(b->d), scales);
    for (int h = 0; h < 2; ++h) {
      const uint8_t* ql = b->ql + 64 * h;
      const B16 l0 = bytes_load(ql), l1 = bytes_load(ql + 16), l2 = bytes_load(ql + 32), l3 = bytes_load(ql + 48);
      const B16 h0 = bytes_load(b->qh + 32 * h), h1 = bytes_load(b->qh + 32 * h + 16);
      const float* s = scales + 8 * h;
      const int at = 128 * h;
      group<0>(at, low_nibbles(l0), h0, s[0], f);
      group<0>(at + 16, low_nibbles(l1), h1, s[1], f);
      group<1>(at + 32, low_nibbles(l2), h0, s[2], f);
      group<1>(at + 48, low_nibbles(l3), h1, s[3], f);
      group<2>(at + 64, high_nibbles(l0), h0, s[4], f);
      group<2>(at + 80, high_nibbles(l1), h1, s[5], f);
      group<3>(at + 96, high_nibbles(l2), h0, s[6], f);
      group<3>(at + 112, high_nibbles(l3), h1, s[7], f);
    }
  }
};

struct IQ4_XS {
  using Block = quant::BlockIQ4XS;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const float d = float_from_half(b->d);
    const uint32_t high = b->scales_h;
    const B16 values = bytes_load(quant::kIq4Values.value);
    for (int g = 0; g < 8; ++g) {
      const int s = ((b->scales_l[g / 2] >> (4 * (g % 2))) & 15) | static_cast<int>((high >> (2 * g)) & 3) << 4;
      const V scale = set1(d * static_cast<float>(s - 32));
      const B16 q = bytes_load(b->qs + 16 * g);
      scaled(32 * g, bytes_lookup(values, low_nibbles(q)), scale, f);
      scaled(32 * g + 16, bytes_lookup(values, high_nibbles(q)), scale, f);
    }
  }
};

}  // namespace
}  // namespace ridge::cpu
