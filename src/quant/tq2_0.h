// tq2_0: ternary values in 2 bits, one scale for 256: x = (t - 1) * d. Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockTQ2_0 {
  static constexpr int kElems = 256;
  uint8_t qs[64];  // element 128 h + 32 k + l (h 0..1, k 0..3, l 0..31): bits 2 k, 2 k + 1 of byte 32 h + l; 3 decodes
                   // as t = 3
  uint16_t d;      // f16 scale
};
static_assert(sizeof(BlockTQ2_0) == 66 && alignof(BlockTQ2_0) == 1);

void decode_tq2_0(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
