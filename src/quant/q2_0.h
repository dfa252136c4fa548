// q2_0: 2-bit integers in -1..2, one scale for 64 elements: x = (q - 1) * d. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ2_0 {
  static constexpr int kElems = 64;
  uint16_t d;      // f16 scale
  uint8_t qs[16];  // element j: bits 2 * (j % 4) and up of byte j / 4
};
static_assert(sizeof(BlockQ2_0) == 18 && alignof(BlockQ2_0) == 1);

void decode_q2_0(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
