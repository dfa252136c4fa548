// q4_K: 4-bit integers; 8 groups of 32 elements, each with a 6-bit scale and a 6-bit minimum:
// x = (d * s) * q - (dmin * m). Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ4K {
  static constexpr int kElems = 256;
  uint16_t d;          // f16 scale of the scales
  uint16_t dmin;       // f16 scale of the minimums
  uint8_t scales[12];  // 8 scales and 8 minimums of 6 bits: k_scales.h
  uint8_t qs[128];  // element 64 h + l (h 0..3, l 0..31): low nibble of byte 32 h + l; element 64 h + 32 + l: its high
                    // nibble
};
static_assert(sizeof(BlockQ4K) == 144 && alignof(BlockQ4K) == 1);

void decode_q4_k(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_q4_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
