// iq4_nl: 4-bit indices into 16 uneven values, one scale for 32 elements: x = d * kIq4Values[q]. Truth: ggml's format,
// golden/quant. The encoder searches the scale by weighted least squares (weight x^2) from 16 starting scales.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ4NL {
  static constexpr int kElems = 32;
  uint16_t d;      // f16 scale
  uint8_t qs[16];  // element j (0..15) in the low nibble of byte j, element j + 16 in the high nibble
};
static_assert(sizeof(BlockIQ4NL) == 18 && alignof(BlockIQ4NL) == 1);

void decode_iq4_nl(const std::byte* blocks, float* out, int64_t n_elems);
void encode_iq4_nl(const float* in, std::byte* blocks, int64_t n_elems);
void quantise_iq4_nl(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
