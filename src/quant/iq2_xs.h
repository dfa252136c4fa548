// iq2_xs: eight elements from a grid of 512 points, seven sign bits, a 4-bit scale for 16:
// x = (d * (0.5 + s) * 0.25) * g * sign. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ2XS {
  static constexpr int kElems = 256;
  uint16_t d;         // f16 scale of the scales
  uint16_t qs[32];    // elements 8 i ..: bits 0-8 index into kIq2xsGrid, bits 9-15 index into kEvenSigns
  uint8_t scales[8];  // nibble k % 2 of byte k / 2: s of elements 16 k ..
};
static_assert(sizeof(BlockIQ2XS) == 74 && alignof(BlockIQ2XS) == 1);

void decode_iq2_xs(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
