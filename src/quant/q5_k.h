// q5_K: 5-bit integers; 8 groups of 32 elements, each with a 6-bit scale and a 6-bit minimum:
// x = (d * s) * q - (dmin * m). Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ5K {
  static constexpr int kElems = 256;
  uint16_t d;          // f16 scale of the scales
  uint16_t dmin;       // f16 scale of the minimums
  uint8_t scales[12];  // 8 scales and 8 minimums of 6 bits: k_scales.h
  uint8_t qh[32];      // bit 4 of element 32 k + l (k 0..7, l 0..31): bit k of byte l
  uint8_t qs[128];     // bits 0-3 of element 64 h + l (h 0..3, l 0..31): low nibble of byte 32 h + l; of 64 h + 32 + l:
                       // its high one
};
static_assert(sizeof(BlockQ5K) == 176 && alignof(BlockQ5K) == 1);

void decode_q5_k(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_q5_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
