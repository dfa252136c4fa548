// iq2_s: eight elements from a grid of 1024 points, eight sign bits, a 4-bit scale for 16:
// x = (d * (0.5 + s) * 0.25) * g * sign. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ2S {
  static constexpr int kElems = 256;
  uint16_t d;         // f16 scale of the scales
  uint8_t qs[32];     // elements 8 i ..: low 8 bits of the index into kIq2sGrid
  uint8_t signs[32];  // elements 8 i ..: bit j set: element 8 i + j is negative
  uint8_t qh[8];      // bits 2 (i % 4) .. of byte i / 4: the high 2 bits of the index of elements 8 i ..
  uint8_t scales[8];  // nibble k % 2 of byte k / 2: s of elements 16 k ..
};
static_assert(sizeof(BlockIQ2S) == 82 && alignof(BlockIQ2S) == 1);

void decode_iq2_s(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
