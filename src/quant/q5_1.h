// q5_1: 5-bit integers with a scale and a minimum for 32 elements: x = q * d + m. Truth: ggml's format, golden/quant.
// The encoder maps the block's minimum to 0 and its maximum to 31.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ5_1 {
  static constexpr int kElems = 32;
  uint16_t d;      // f16 scale
  uint16_t m;      // f16 minimum
  uint32_t qh;     // bit j: bit 4 of element j (0..31)
  uint8_t qs[16];  // bits 0-3: element j (0..15) in the low nibble of byte j, element j + 16 in the high nibble
};
static_assert(sizeof(BlockQ5_1) == 24 && alignof(BlockQ5_1) == 1);

void decode_q5_1(const std::byte* blocks, float* out, int64_t n_elems);
void encode_q5_1(const float* in, std::byte* blocks, int64_t n_elems);
void quantise_q5_1(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
