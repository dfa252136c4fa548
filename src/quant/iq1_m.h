// iq1_m: as iq1_s, with a shift for each eight elements, a 3-bit scale for each 16, and the block's scale in pieces:
// x = (d * (2 s + 1)) * (g +- 1/8). Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockIQ1M {
  static constexpr int kElems = 256;
  uint8_t qs[32];      // elements 8 i ..: low 8 bits of the index into kIq1sGrid
  uint8_t qh[16];      // nibble i % 2 of byte i / 2: the high 3 index bits of elements 8 i ..; bit 3 set: minus 1/8
  uint16_t scales[4];  // word w: bits 3 k .. (k 0..3) s of elements 64 w + 16 k ..; bits 12-15: bits 4 w .. of the f16
                       // scale d
};
static_assert(sizeof(BlockIQ1M) == 56 && alignof(BlockIQ1M) == 1);

void decode_iq1_m(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
