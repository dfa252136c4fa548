// q3_K: 3-bit integers in -4..3; 16 groups of 16 elements, each with a 6-bit scale around 32: x = (d * (s - 32)) * q.
// Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ3K {
  static constexpr int kElems = 256;
  uint8_t hmask[32];  // element 32 k + l (k 0..7, l 0..31): bit k of byte l; clear means subtract 4
  uint8_t qs[64];  // low bits: element 128 h + 32 k + l (h 0..1, k 0..3, l 0..31): bits 2 k, 2 k + 1 of byte 32 h + l
  uint8_t scales[12];  // group g: low 4 bits in nibble g / 8 of byte g % 8, high 2 bits at bit 2 * (g / 4) of byte 8 +
                       // g % 4
  uint16_t d;          // f16 scale of the scales
};
static_assert(sizeof(BlockQ3K) == 110 && alignof(BlockQ3K) == 1);

void decode_q3_k(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_q3_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
