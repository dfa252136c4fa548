// q6_K: 6-bit integers around 32; 16 groups of 16 elements, each with a signed byte as scale: x = (d * s) * (q - 32).
// Truth: ggml's format, golden/quant.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockQ6K {
  static constexpr int kElems = 256;
  uint8_t ql[128];  // bits 0-3 of element 128 h + 32 k + l (h 0..1, k 0..3, l 0..31): nibble k / 2 of byte 64 h + 32 (k
                    // % 2) + l
  uint8_t qh[64];   // bits 4-5 of the same element: bits 2 k, 2 k + 1 of byte 32 h + l
  int8_t scales[16];  // group g: elements 16 g ..
  uint16_t d;         // f16 scale of the scales
};
static_assert(sizeof(BlockQ6K) == 210 && alignof(BlockQ6K) == 1);

void decode_q6_k(const std::byte* blocks, float* out, int64_t n_elems);
void quantise_q6_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
