// q8_0: signed bytes, one scale for 32 elements: x = q * d. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ8_0 {
  static constexpr int kElems = 32;
  uint16_t d;     // f16 scale
  int8_t qs[32];  // element j in byte j; the encoder writes -127..127
};
static_assert(sizeof(BlockQ8_0) == 34 && alignof(BlockQ8_0) == 1);

void decode_q8_0(const std::byte* blocks, float* out, int64_t n_elems);
void encode_q8_0(const float* in, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
