// q2_K: 2-bit integers; 16 groups of 16 elements, each with a 4-bit scale and a 4-bit minimum:
// x = (d * s) * q - (dmin * m). Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ2K {
  static constexpr int kElems = 256;
  uint8_t scales[16];  // group g (elements 16 g ..): s in the low nibble, m in the high nibble
  uint8_t qs[64];      // element 128 h + 32 k + l (h 0..1, k 0..3, l 0..31): bits 2 k, 2 k + 1 of byte 32 h + l
  uint16_t d;          // f16 scale of the scales
  uint16_t dmin;       // f16 scale of the minimums
};
static_assert(sizeof(BlockQ2K) == 84 && alignof(BlockQ2K) == 1);

void decode_q2_k(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_q2_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
