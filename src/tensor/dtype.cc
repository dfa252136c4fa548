#include "tensor/dtype.h"

#include <array>
#include <cassert>
#include <cctype>

namespace ridge {
namespace {

constexpr DTypeInfo kTable[] = {
    {DType::f32, "f32", 1, 4, true},
    {DType::f16, "f16", 1, 2, true},
    {DType::q4_0, "q4_0", 32, 18, true},
    {DType::q4_1, "q4_1", 32, 20, true},
    {DType::q5_0, "q5_0", 32, 22, true},
    {DType::q5_1, "q5_1", 32, 24, true},
    {DType::q8_0, "q8_0", 32, 34, true},
    {DType::q2_k, "q2_K", 256, 84, true},
    {DType::q3_k, "q3_K", 256, 110, true},
    {DType::q4_k, "q4_K", 256, 144, true},
    {DType::q5_k, "q5_K", 256, 176, true},
    {DType::q6_k, "q6_K", 256, 210, true},
    {DType::iq2_xxs, "iq2_xxs", 256, 66, true},
    {DType::iq2_xs, "iq2_xs", 256, 74, true},
    {DType::iq3_xxs, "iq3_xxs", 256, 98, true},
    {DType::iq1_s, "iq1_s", 256, 50, true},
    {DType::iq4_nl, "iq4_nl", 32, 18, true},
    {DType::iq3_s, "iq3_s", 256, 110, true},
    {DType::iq2_s, "iq2_s", 256, 82, true},
    {DType::iq4_xs, "iq4_xs", 256, 136, true},
    {DType::i8, "i8", 1, 1, false},
    {DType::i16, "i16", 1, 2, false},
    {DType::i32, "i32", 1, 4, false},
    {DType::i64, "i64", 1, 8, false},
    {DType::f64, "f64", 1, 8, false},
    {DType::iq1_m, "iq1_m", 256, 56, true},
    {DType::bf16, "bf16", 1, 2, true},
    {DType::tq1_0, "tq1_0", 256, 54, true},
    {DType::tq2_0, "tq2_0", 256, 66, true},
    {DType::mxfp4, "mxfp4", 32, 17, true},
    {DType::nvfp4, "nvfp4", 64, 36, true},
    {DType::q1_0, "q1_0", 128, 18, true},
    {DType::q2_0, "q2_0", 64, 18, true},
};

constexpr std::array<int8_t, kDTypeIdEnd> make_index() {
  std::array<int8_t, kDTypeIdEnd> index{};
  for (auto& i : index) i = -1;
  int8_t n = 0;
  for (const DTypeInfo& t : kTable) index[static_cast<uint32_t>(t.id)] = n++;
  return index;
}
constexpr auto kIndex = make_index();

}  // namespace

std::span<const DTypeInfo> dtype_table() {
  return kTable;
}

const DTypeInfo* find_dtype(uint32_t id) {
  if (id >= kDTypeIdEnd || kIndex[id] < 0) return nullptr;
  return &kTable[kIndex[id]];
}

const DTypeInfo& info(DType type) {
  const DTypeInfo* t = find_dtype(static_cast<uint32_t>(type));
  assert(t != nullptr && "a DType always has a row in the table");
  return *t;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& t : kTable) {
    if (t.name.size() != name.size()) continue;
    bool same = true;
    for (size_t i = 0; i < name.size(); ++i) {
      same &= std::tolower(static_cast<unsigned char>(name[i])) == std::tolower(static_cast<unsigned char>(t.name[i]));
    }
    if (same) return t.id;
  }
  return std::nullopt;
}

float f32_from_f16(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16;
  uint32_t exponent = (h >> 10) & 0x1F, mantissa = h & 0x3FF;
  if (exponent == 31) return __builtin_bit_cast(float, sign | 0x7F800000u | (mantissa << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1.0p-24f;  // subnormal: exact in f32
    return sign != 0 ? -value : value;
  }
  return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t f16_from_f32(float f) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);   // NaN stays a quiet NaN
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // rounds past 65504: infinity
  if (magnitude < 0x38800000u) {  // below the smallest normal half: add a number that leaves the rounding to the FPU
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3F000000u));
  }
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

uint16_t bf16_from_f32(float f) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, f);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace ridge
