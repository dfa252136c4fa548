// iq1_s: eight elements from a grid of 2048 ternary points, shifted by 1/8; a 3-bit scale for 32:
// x = (d * (2 s + 1)) * (g +- 1/8). Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ1S {
  static constexpr int kElems = 256;
  uint16_t d;      // f16 scale of the scales
  uint8_t qs[32];  // elements 8 i ..: low 8 bits of the index into kIq1sGrid
  uint16_t qh[8];  // group g of 32: bits 3 k .. of the high 3 index bits of its k-th eight; bits 12-14 s; bit 15 set:
                   // minus 1/8
};
static_assert(sizeof(BlockIQ1S) == 50 && alignof(BlockIQ1S) == 1);

void decode_iq1_s(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
