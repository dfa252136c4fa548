// iq3_xxs: four elements from a grid of 256 points, seven sign bits for eight, a 4-bit scale for 32:
// x = (d * (0.5 + s) * 0.5) * g * sign. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ3XXS {
  static constexpr int kElems = 256;
  uint16_t d;                   // f16 scale of the scales
  uint8_t qs[64];               // elements 4 i ..: index into kIq3xxsGrid
  uint32_t signs_and_scale[8];  // group g of 32: bits 7 k .. of its k-th eight: index into kEvenSigns; bits 28-31: s
};
static_assert(sizeof(BlockIQ3XXS) == 98 && alignof(BlockIQ3XXS) == 1);

void decode_iq3_xxs(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
