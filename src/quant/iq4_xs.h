// iq4_xs: iq4_nl's values; 8 groups of 32 elements, each with a 6-bit scale around 32:
// x = (d * (s - 32)) * kIq4Values[q]. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ4XS {
  static constexpr int kElems = 256;
  uint16_t d;           // f16 scale of the scales
  uint16_t scales_h;    // bits 2 g, 2 g + 1: the high 2 bits of group g's scale
  uint8_t scales_l[4];  // nibble g % 2 of byte g / 2: the low 4 bits of group g's scale
  uint8_t qs[128];  // group g: element j (0..15) in the low nibble of byte 16 g + j, element j + 16 in the high nibble
};
static_assert(sizeof(BlockIQ4XS) == 136 && alignof(BlockIQ4XS) == 1);

void decode_iq4_xs(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_iq4_xs(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
