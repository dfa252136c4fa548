// q4_0: 4-bit integers around 8, one scale for 32 elements: x = (q - 8) * d. Truth: ggml's format, golden/quant.
// The encoder is ggml's reference rounding: the value of largest magnitude becomes q = 0 exactly.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ4_0 {
  static constexpr int kElems = 32;
  uint16_t d;      // f16 scale
  uint8_t qs[16];  // element j (0..15) in the low nibble of byte j, element j + 16 in the high nibble
};
static_assert(sizeof(BlockQ4_0) == 18 && alignof(BlockQ4_0) == 1);

void decode_q4_0(const std::byte* blocks, float* out, int64_t n_elems);
void encode_q4_0(const float* in, std::byte* blocks, int64_t n_elems);
void quantise_q4_0(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
