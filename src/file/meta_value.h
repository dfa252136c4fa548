// One metadata value of a GGUF file, and the typed questions one may ask of it.
// Owns nothing but the list of views of a string array: text and numbers stay in the file's mapping, which outlives the
// value. Source: the GGUF specification (ggml, docs/gguf.md), value types 0-12.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "file/cursor.h"

namespace ridge {

// Numbered as files number them.
enum class MetaType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
inline constexpr uint32_t kMetaTypeEnd = 13;
std::string_view to_string(MetaType type);

using StringArray = std::vector<std::string_view>;

// Arrays of arrays do not occur in model files and are refused, so a value has no depth.
using MetaValue =
    std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float, bool, std::string_view, uint64_t,
                 int64_t, double, PackedArray<uint8_t>, PackedArray<int8_t>, PackedArray<uint16_t>,
                 PackedArray<int16_t>, PackedArray<uint32_t>, PackedArray<int32_t>, PackedArray<float>,
                 PackedArray<bool>, StringArray, PackedArray<uint64_t>, PackedArray<int64_t>, PackedArray<double>>;

struct MetaEntry {
  std::string_view key;
  MetaValue value;
};

// The value's own type; `array` for any array.
MetaType type_of(const MetaValue& value);
// The type of a value's elements: of an array its element type, of anything else its own type.
MetaType element_type_of(const MetaValue& value);
// Elements of an array; 1 for anything else.
size_t count_of(const MetaValue& value);
// "u32 5", "string 'llama'", "array of 3 i32": what an error says was found.
std::string describe(const MetaValue& value);
// Same type and same bits (a NaN is equal to itself).
bool same_value(const MetaValue& a, const MetaValue& b);

// Text from a file, fit to be put into a message: valid UTF-8, no control characters, at most 80 bytes of it.
std::string printable(std::string_view text);

template <class T>
concept MetaInteger = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept MetaScalar =
    MetaInteger<T> || std::floating_point<T> || std::same_as<T, bool> || std::same_as<T, std::string_view>;
template <class T>
concept MetaNumber = MetaScalar<T> && !std::same_as<T, std::string_view>;

namespace meta_detail {
// The integer's two's complement bits, for an integer of any stored width whose value lies in [low, high].
Result<uint64_t> integer_from(std::string_view key, const MetaValue& value, int64_t low, uint64_t high,
                              MetaType wanted);
Result<double> real_from(std::string_view key, const MetaValue& value, MetaType wanted);
Result<bool> bool_from(std::string_view key, const MetaValue& value);
Result<std::string_view> string_from(std::string_view key, const MetaValue& value);

template <MetaNumber T>
constexpr MetaType meta_type_of() {
  if constexpr (std::same_as<T, bool>) return MetaType::boolean;
  if constexpr (std::floating_point<T>) return sizeof(T) == 4 ? MetaType::f32 : MetaType::f64;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? MetaType::i8 : MetaType::u8;
  if constexpr (sizeof(T) == 2) return is_signed ? MetaType::i16 : MetaType::u16;
  if constexpr (sizeof(T) == 4) return is_signed ? MetaType::i32 : MetaType::u32;
  return is_signed ? MetaType::i64 : MetaType::u64;
}
}  // namespace meta_detail

// The value as a T. An integer of any width is taken where it fits, a real as f32 or f64; another kind is an error
// (bad_file) that names the key, what was found and what was expected.
template <MetaScalar T>
Result<T> meta_get(std::string_view key, const MetaValue& value) {
  if constexpr (std::same_as<T, bool>) {
    return meta_detail::bool_from(key, value);
  } else if constexpr (std::same_as<T, std::string_view>) {
    return meta_detail::string_from(key, value);
  } else if constexpr (std::floating_point<T>) {
    RIDGE_TRY(const double x, meta_detail::real_from(key, value, meta_detail::meta_type_of<T>()));
    return static_cast<T>(x);
  } else {
    RIDGE_TRY(const uint64_t bits,
              meta_detail::integer_from(key, value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                        meta_detail::meta_type_of<T>()));
    return static_cast<T>(bits);
  }
}

// A copy of a numeric array as T, every element checked as meta_get checks a scalar (the error gives the element's
// index).
template <MetaNumber T>
Result<std::vector<T>> meta_array(std::string_view key, const MetaValue& value);

}  // namespace ridge
