// Weight and cache formats: one table row a format, with its reference decoder (scalar, the truth that kernels are
// tested against) and, for formats that caches and tests write, its encoder. Names and sizes are dtype.h's; a test
// holds the block structs against them. Refuses integer types: they are never weights. All functions are pure and may
// run on any thread.
#pragma once

#include <span>

#include "base/result.h"
#include "quant/block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

struct Format {
  DType type;
  uint32_t block_elems;
  uint32_t block_bytes;
  DecodeFn decode;
  EncodeFn encode;      // nullptr: nothing here writes this format
  QuantiseFn quantise;  // nullptr: no search finds better blocks than encode

  std::string_view name() const { return info(type).name; }
};

// f32 and every format of golden/quant, in id order.
std::span<const Format> formats();
// nullptr: the type is none that decodes to real numbers.
const Format* find_format(DType type);

// n_elems values of a row, 0 or more, a multiple of the format's block; blocks hold row_bytes(type, n_elems) bytes at
// any alignment. Errors: unsupported (a type without decoder or encoder), invalid_argument (n_elems).
Result<void> decode_row(DType type, const std::byte* blocks, float* out, int64_t n_elems);
Result<void> encode_row(DType type, const float* in, std::byte* blocks, int64_t n_elems);
// For weights, which are written once and read for ever: the search where there is one (importance: block.h), else
// encode_row.
Result<void> quantise_row(DType type, const float* in, const float* importance, std::byte* blocks, int64_t n_elems);

}  // namespace ridge::quant
