// Typed questions to metadata values, and the words in which a wrong answer is reported.
#include "file/meta_value.h"

#include <array>
#include <bit>

#include "base/utf8.h"

namespace ridge {
namespace {

constexpr std::array<std::string_view, kMetaTypeEnd> kTypeNames = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};
constexpr size_t kMaxPrintedBytes = 80;

template <class V>
constexpr bool is_packed = false;
template <class T>
constexpr bool is_packed<PackedArray<T>> = true;

template <class V>
constexpr bool is_array = is_packed<V> || std::same_as<V, StringArray>;

template <class V>
constexpr MetaType element_type() {
  if constexpr (is_packed<V>) {
    return meta_detail::meta_type_of<typename V::value_type>();
  } else if constexpr (std::same_as<V, StringArray> || std::same_as<V, std::string_view>) {
    return MetaType::string;
  } else {
    return meta_detail::meta_type_of<V>();
  }
}

template <MetaInteger V>
bool fits(V value, int64_t low, uint64_t high) {
  if constexpr (std::is_signed_v<V>) {
    if (value < 0) return static_cast<int64_t>(value) >= low;
  }
  return static_cast<uint64_t>(value) <= high;
}

tl::unexpected<Error> wrong_kind(std::string_view key, const MetaValue& value, std::string_view expected) {
  return fail(ErrorCode::bad_file, "key '{}': found {}, expected {}", printable(key), describe(value), expected);
}

}  // namespace

std::string_view to_string(MetaType type) {
  const auto i = static_cast<size_t>(type);
  return i < kTypeNames.size() ? kTypeNames[i] : "unknown";
}

MetaType type_of(const MetaValue& value) {
  return std::visit([]<class V>(const V&) { return is_array<V> ? MetaType::array : element_type<V>(); }, value);
}

MetaType element_type_of(const MetaValue& value) {
  return std::visit([]<class V>(const V&) { return element_type<V>(); }, value);
}

size_t count_of(const MetaValue& value) {
  return std::visit(
      []<class V>(const V& v) -> size_t {
        if constexpr (is_array<V>) {
          return v.size();
        } else {
          return 1;
        }
      },
      value);
}

std::string describe(const MetaValue& value) {
  return std::visit(
      []<class V>(const V& v) -> std::string {
        if constexpr (is_array<V>) {
          return fmt::format("an array of {} {}", v.size(), to_string(element_type<V>()));
        } else if constexpr (std::same_as<V, std::string_view>) {
          return fmt::format("string '{}'", printable(v));
        } else if constexpr (MetaInteger<V> && sizeof(V) == 1) {
          return fmt::format("{} {}", to_string(element_type<V>()), static_cast<int>(v));
        } else {
          return fmt::format("{} {}", to_string(element_type<V>()), v);
        }
      },
      value);
}

bool same_value(const MetaValue& a, const MetaValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b]<class V>(const V& x) {
        const V& y = std::get<V>(b);
        if constexpr (is_packed<V>) {
          return x.bytes().size() == y.bytes().size() &&
                 (x.empty() || std::memcmp(x.bytes().data(), y.bytes().data(), x.bytes().size()) == 0);
        } else if constexpr (std::floating_point<V>) {
          return std::memcmp(&x, &y, sizeof(V)) == 0;
        } else {
          return x == y;
        }
      },
      a);
}

std::string printable(std::string_view text) {
  const bool cut = text.size() > kMaxPrintedBytes;
  // utf8_complete_prefix would keep a broken last character; sanitising afterwards deals with that one too.
  if (cut) text = text.substr(0, utf8_complete_prefix(text.substr(0, kMaxPrintedBytes)));
  std::string out;
  for (const char c : utf8_sanitise(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (cut) out += "...";
  return out;
}

namespace meta_detail {

Result<uint64_t> integer_from(std::string_view key, const MetaValue& value, int64_t low, uint64_t high,
                              MetaType wanted) {
  return std::visit(
      [&]<class V>(const V& v) -> Result<uint64_t> {
        if constexpr (MetaInteger<V>) {
          if (fits(v, low, high)) return static_cast<uint64_t>(v);
          return wrong_kind(key, value, fmt::format("an integer from {} to {} ({})", low, high, to_string(wanted)));
        } else {
          return wrong_kind(key, value, fmt::format("an integer ({})", to_string(wanted)));
        }
      },
      value);
}

Result<double> real_from(std::string_view key, const MetaValue& value, MetaType wanted) {
  if (const float* x = std::get_if<float>(&value)) return static_cast<double>(*x);
  if (const double* x = std::get_if<double>(&value)) return *x;
  return wrong_kind(key, value, fmt::format("a real number ({})", to_string(wanted)));
}

Result<bool> bool_from(std::string_view key, const MetaValue& value) {
  if (const bool* x = std::get_if<bool>(&value)) return *x;
  return wrong_kind(key, value, "a bool");
}

Result<std::string_view> string_from(std::string_view key, const MetaValue& value) {
  if (const std::string_view* x = std::get_if<std::string_view>(&value)) return *x;
  return wrong_kind(key, value, "a string");
}

}  // namespace meta_detail

template <MetaNumber T>
Result<std::vector<T>> meta_array(std::string_view key, const MetaValue& value) {
  constexpr MetaType wanted = meta_detail::meta_type_of<T>();
  return std::visit(
      [&]<class V>(const V& v) -> Result<std::vector<T>> {
        if constexpr (is_packed<V>) {
          using E = typename V::value_type;
          constexpr bool both_integers = MetaInteger<T> && MetaInteger<E>;
          if constexpr (both_integers || (std::floating_point<T> && std::floating_point<E>) || std::same_as<T, E>) {
            std::vector<T> out;
            out.reserve(v.size());
            for (size_t i = 0; i < v.size(); ++i) {
              const E x = v[i];
              if constexpr (both_integers) {
                if (!fits(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())) {
                  return fail(ErrorCode::bad_file, "key '{}': element {} is {}, expected an integer that fits {}",
                              printable(key), i, describe(x), to_string(wanted));
                }
              }
              out.push_back(static_cast<T>(x));
            }
            return out;
          }
        }
        return wrong_kind(key, value, fmt::format("an array of {}", to_string(wanted)));
      },
      value);
}

template Result<std::vector<uint8_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<int8_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<uint16_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<int16_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<uint32_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<int32_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<uint64_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<int64_t>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<float>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<double>> meta_array(std::string_view, const MetaValue&);
template Result<std::vector<bool>> meta_array(std::string_view, const MetaValue&);

}  // namespace ridge
