// tq1_0: ternary values, five to a byte, one scale for 256: x = (t - 1) * d. Truth: ggml's format, golden/quant.
// A byte holds ceil(v * 256 / 243), v being five base-3 digits: the digit n is the integer part of 3 * (byte * 3^n mod
// 256) / 256.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockTQ1_0 {
  static constexpr int kElems = 256;
  uint8_t qs[48];  // element 32 n + m (n 0..4, m 0..31): digit n of byte m; element 160 + 16 n + m (m 0..15): digit n
                   // of byte 32 + m
  uint8_t qh[4];   // element 240 + 4 n + m (n 0..3, m 0..3): digit n of byte m
  uint16_t d;      // f16 scale
};
static_assert(sizeof(BlockTQ1_0) == 54 && alignof(BlockTQ1_0) == 1);

void decode_tq1_0(const std::byte* blocks, float* out, int64_t n_elems);

}  // namespace ridge::quant
