// What every block struct shares. Blocks are [[gnu::packed, gnu::may_alias]]: a pointer to bytes of a file or a cache,
// at any alignment, may be read as blocks (the compiler then uses unaligned loads). Never take the address of a
// multi-byte field; copy its value. Halves (f16) are kept as uint16_t bits: f32_from_f16 in tensor/dtype.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridge::quant {

// decode: n_elems values from blocks to out. encode: n_elems values from in to blocks. n_elems is a multiple of the
// format's block.
using DecodeFn = void (*)(const std::byte* blocks, float* out, int64_t n_elems);
using EncodeFn = void (*)(const float* in, std::byte* blocks, int64_t n_elems);
// As encode, but the blocks are the best that a search finds. importance: n_elems weights (what an error in that column
// costs), 0 or more and finite, or nullptr when all are alike.
using QuantiseFn = void (*)(const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
