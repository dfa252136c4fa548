// iq3_s: four elements from a grid of 512 points, a sign bit each, a 4-bit scale for 32:
// x = (d * (1 + 2 s)) * g * sign. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ3S {
  static constexpr int kElems = 256;
  uint16_t d;         // f16 scale of the scales
  uint8_t qs[64];     // elements 4 i ..: low 8 bits of the index into kIq3sGrid
  uint8_t qh[8];      // bit i % 8 of byte i / 8: the high bit of the index of elements 4 i ..
  uint8_t signs[32];  // bit j % 8 of byte j / 8 set: element j is negative
  uint8_t scales[4];  // nibble g % 2 of byte g / 2: s of elements 32 g ..
};
static_assert(sizeof(BlockIQ3S) == 110 && alignof(BlockIQ3S) == 1);

void decode_iq3_s(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
