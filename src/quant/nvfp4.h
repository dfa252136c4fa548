// nvfp4: FP4 (E2M1) values; 4 groups of 16 elements, each with an unsigned 8-bit float (E4M3, bias 7) as scale:
// x = v * s. Truth: ggml's format, golden/quant. As there, the scale's top bit is ignored and the code 0x7F (NaN) is 0.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockNVFP4 {
  static constexpr int kElems = 64;
  uint8_t d[4];    // E4M3 scale of group g (elements 16 g ..)
  uint8_t qs[32];  // E2M1 codes: element 16 g + j (j 0..7) in the low nibble of byte 8 g + j, element 16 g + 8 + j in
                   // the high one
};
static_assert(sizeof(BlockNVFP4) == 36 && alignof(BlockNVFP4) == 1);

void decode_nvfp4(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
