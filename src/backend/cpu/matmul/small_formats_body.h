// How blocks of 32 elements are taken apart: q4_0, q4_1, q5_0, q5_1, q8_0, iq4_nl, mxfp4; included after one of the
// SIMD vec_*.h. Each format says it once: each(block, f) calls f(i, vector) for its elements in ascending order, every
// value with the same roundings in the same order as quant/ decodes it. Truth of the layouts: the block structs in
// quant/.
#pragma once

#include "backend/cpu/matmul/block_parts_body.h"
#include "quant/iq4_nl.h"
#include "quant/iq_tables.h"
#include "quant/mxfp4.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q8_0.h"

namespace ridge::cpu {
namespace {

struct Q4_0 {
  using Block = quant::BlockQ4_0;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const V d = set1(float_from_half(b->d));
    const B16 q = bytes_load(b->qs), eight = bytes_set1(8);
    scaled(0, bytes_sub(low_nibbles(q), eight), d, f);
    scaled(16, bytes_sub(high_nibbles(q), eight), d, f);
  }
};

struct Q4_1 {
  using Block = quant::BlockQ4_1;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const V d = set1(float_from_half(b->d)), m = set1(float_from_half(b->m));
    const B16 q = bytes_load(b->qs);
    scaled_plus(0, low_nibbles(q), d, m, f);
    scaled_plus(16, high_nibbles(q), d, m, f);
  }
};

struct Q5_0 {
  using Block = quant::BlockQ5_0;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const V d = set1(float_from_half(b->d));
    const uint32_t qh = b->qh;
    // (low | bit << 4) - 16 is low where the bit is set and low - 16 = low | 0xF0 where it is not.
    const B16 q = bytes_load(b->qs), sixteen = bytes_set1(16);
    scaled(0, bytes_sub(bytes_or(low_nibbles(q), bytes_and(bytes_from_bits(qh), sixteen)), sixteen), d, f);
    scaled(16, bytes_sub(bytes_or(high_nibbles(q), bytes_and(bytes_from_bits(qh >> 16), sixteen)), sixteen), d, f);
  }
};

struct Q5_1 {
  using Block = quant::BlockQ5_1;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const V d = set1(float_from_half(b->d)), m = set1(float_from_half(b->m));
    const uint32_t qh = b->qh;
    const B16 q = bytes_load(b->qs), sixteen = bytes_set1(16);
    scaled_plus(0, bytes_or(low_nibbles(q), bytes_and(bytes_from_bits(qh), sixteen)), d, m, f);
    scaled_plus(16, bytes_or(high_nibbles(q), bytes_and(bytes_from_bits(qh >> 16), sixteen)), d, m, f);
  }
};

struct Q8_0 {
  using Block = quant::BlockQ8_0;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const V d = set1(float_from_half(b->d));
    scaled(0, bytes_load(b->qs), d, f);
    scaled(16, bytes_load(b->qs + 16), d, f);
  }
};

struct IQ4_NL {
  using Block = quant::BlockIQ4NL;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const V d = set1(float_from_half(b->d));
    const B16 q = bytes_load(b->qs), values = bytes_load(quant::kIq4Values.value);
    scaled(0, bytes_lookup(values, low_nibbles(q)), d, f);
    scaled(16, bytes_lookup(values, high_nibbles(q)), d, f);
  }
};

struct MXFP4 {
  using Block = quant::BlockMXFP4;
  template <class F>
  static RIDGE_INLINE void each(const Block* b, F f) {
    const uint32_t e = b->e;
    const V d = set1(__builtin_bit_cast(float, e < 2 ? 0x00200000u << e : (e - 1) << 23));  // 2^(e - 128)
    const B16 q = bytes_load(b->qs), values = bytes_load(quant::kFp4Values.value);
    scaled(0, bytes_lookup(values, low_nibbles(q)), d, f);
    scaled(16, bytes_lookup(values, high_nibbles(q)), d, f);
  }
};

}  // namespace
}  // namespace ridge::cpu
