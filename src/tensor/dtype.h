// Data types as GGUF numbers them: one table row a type. Decoding lives in quant/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ridge {

// Values are ggml's type ids, as files store them (4, 5, 31-33 and 36-38 were removed from the format; 9 and 15 are
// never in files).
enum class DType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41,
  q2_0 = 42,
};
inline constexpr uint32_t kDTypeIdEnd = 43;  // one past the largest id: size of tables indexed by id

struct DTypeInfo {
  DType id;
  std::string_view name;  // as llama.cpp prints it: "q4_K", "f16"
  uint32_t block_elems;   // elements a block
  uint32_t block_bytes;   // bytes a block
  bool is_float_like;     // decodes to real numbers (false: integer types, which are never weights)
};

// Every known type, in id order.
std::span<const DTypeInfo> dtype_table();
// nullptr for an id that no type has.
const DTypeInfo* find_dtype(uint32_t id);
const DTypeInfo& info(DType type);
// By name, letters in either case ("q4_K", "Q4_K"), or nullopt.
std::optional<DType> dtype_from_name(std::string_view name);

// Bytes of a row of n elements; n is a multiple of block_elems.
inline size_t row_bytes(DType type, int64_t n) {
  const DTypeInfo& i = info(type);
  return static_cast<size_t>(n) / i.block_elems * i.block_bytes;
}

// Scalar conversions, exact, round to nearest even.
float f32_from_f16(uint16_t h);
uint16_t f16_from_f32(float f);
inline float f32_from_bf16(uint16_t h) {
  const uint32_t bits = uint32_t{h} << 16;
  return __builtin_bit_cast(float, bits);
}
uint16_t bf16_from_f32(float f);

}  // namespace ridge
