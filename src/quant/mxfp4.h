// mxfp4: FP4 (E2M1) values with a power-of-two scale (E8M0) for 32 elements: x = v * 2^(e - 127).
// Truth: OCP Microscaling Formats 1.0; ggml's block layout; golden/quant. e = 255, NaN to the OCP, is 2^128 to ggml,
// and so here (codes of 4 and 6 overflow).
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockMXFP4 {
  static constexpr int kElems = 32;
  uint8_t e;       // E8M0 exponent
  uint8_t qs[16];  // E2M1 codes: element j (0..15) in the low nibble of byte j, element j + 16 in the high nibble
};
static_assert(sizeof(BlockMXFP4) == 17 && alignof(BlockMXFP4) == 1);

void decode_mxfp4(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_mxfp4(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
