// iq2_xxs: eight elements from a grid of 256 points, seven sign bits, a 4-bit scale for 32:
// x = (d * (0.5 + s) * 0.25) * g * sign. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] GroupIQ2XXS {
  uint8_t index[4];          // the k-th eight: index into kIq2xxsGrid
  uint32_t signs_and_scale;  // bits 7 k .. of the k-th eight: index into kEvenSigns; bits 28-31: s
};
struct [[gnu::packed, gnu::may_alias]] BlockIQ2XXS {
  static constexpr int kElems = 256;
  uint16_t d;             // f16 scale of the scales
  GroupIQ2XXS groups[8];  // 32 elements each
};
static_assert(sizeof(BlockIQ2XXS) == 66 && alignof(BlockIQ2XXS) == 1);

void decode_iq2_xxs(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
