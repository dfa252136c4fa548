// f32, f16 and bf16 as formats of one-element blocks: little-endian words at any alignment. Encoding rounds to nearest
// even.
#pragma once

#include "quant/block.h"

namespace ridge::quant {

struct [[gnu::packed, gnu::may_alias]] BlockF32 {
  static constexpr int kElems = 1;
  float value;
};
struct [[gnu::packed, gnu::may_alias]] BlockF16 {
  static constexpr int kElems = 1;
  uint16_t bits;
};
struct [[gnu::packed, gnu::may_alias]] BlockBF16 {
  static constexpr int kElems = 1;
  uint16_t bits;  // the upper half of an f32
};
static_assert(sizeof(BlockF32) == 4 && sizeof(BlockF16) == 2 && sizeof(BlockBF16) == 2 && alignof(BlockF32) == 1);

void decode_f32(const std::byte* blocks, float* out, int64_t n_elems);
void encode_f32(const float* in, std::byte* blocks, int64_t n_elems);
void decode_f16(const std::byte* blocks, float* out, int64_t n_elems);
void encode_f16(const float* in, std::byte* blocks, int64_t n_elems);
void decode_bf16(const std::byte* blocks, float* out, int64_t n_elems);
void encode_bf16(const float* in, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
