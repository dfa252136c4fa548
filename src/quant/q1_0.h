// q1_0: one sign bit an element, one scale for 128: x = d where the bit is set, else -d. Truth: ggml's format,
// golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ1_0 {
  static constexpr int kElems = 128;
  uint16_t d;      // f16 scale
  uint8_t qs[16];  // element j: bit j % 8 of byte j / 8
};
static_assert(sizeof(BlockQ1_0) == 18 && alignof(BlockQ1_0) == 1);

void decode_q1_0(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
