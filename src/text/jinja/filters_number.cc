// Filters that read or make numbers; and where filters are found by name.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "text/jinja/bind.h"
#include "text/jinja/filters.h"
#include "text/jinja/format_number.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

// A number's text as Python's int() and float() read it: no white space around, single underscores between digits gone.
std::optional<std::string> clean_number(Interpreter& in, const MarkedText& text, bool letters_are_digits) {
  const MarkedText stripped = strip(in, text, Value::none(), true, true);
  const std::string& s = stripped.bytes();
  std::string out;
  const auto is_digit_char = [&](size_t i) {
    if (i >= s.size()) return false;
    const char c = s[i];
    return (c >= '0' && c <= '9') || (letters_are_digits && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')));
  };
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '_') {
      out += s[i];
    } else if (i == 0 || !is_digit_char(i - 1) || !is_digit_char(i + 1)) {
      return std::nullopt;
    }
  }
  return out;
}

// int(text, base); missing where Python raises ValueError.
Value parse_whole(Interpreter& in, const MarkedText& text, int64_t base) {
  auto clean = clean_number(in, text, true);
  if (!clean) return {};
  std::string_view s = *clean;
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  if (s.size() > 2 && s[0] == '0') {
    const char mark = static_cast<char>(s[1] | 0x20);
    const int named = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (named != 0 && (base == named || base == 0)) {
      base = named;
      s.remove_prefix(2);
    }
  }
  if (base == 0) base = 10;
  if (base < 2 || base > 36) raise("ValueError", "int() base must be >= 2 and <= 36, or 0");
  if (s.empty()) return {};
  uint64_t magnitude = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), magnitude, static_cast<int>(base));
  if (r.ptr != s.data() + s.size()) return {};
  const uint64_t most = negative ? uint64_t{1} << 63 : (uint64_t{1} << 63) - 1;
  if (r.ec == std::errc() && magnitude <= most) {
    return Value::integer(static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude));
  }
  if (base != 10) raise("OverflowError", "the integer does not fit into 64 bits");
  s.remove_prefix(std::min(s.find_first_not_of('0'), s.size()));
  return Value::object(std::make_shared<BigIntegerObject>(fmt::format("{}{}", negative ? "-" : "", s)));
}

// float(text); nullopt where Python raises ValueError.
std::optional<double> parse_real(Interpreter& in, const MarkedText& text) {
  const auto clean = clean_number(in, text, false);
  if (!clean) return std::nullopt;
  std::string_view s = *clean;
  if (!s.empty() && s[0] == '+') s.remove_prefix(1);
  if (s.empty() || s[0] == '+' || s.find_first_of("xX(") != std::string_view::npos) return std::nullopt;
  double d = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), d);
  if (r.ptr != s.data() + s.size()) return std::nullopt;
  if (r.ec == std::errc::result_out_of_range) return std::strtod(std::string(s).c_str(), nullptr);
  if (r.ec != std::errc()) return std::nullopt;
  return d;
}

// int(x) of a float, exact at any size.
Value whole_of(double d) {
  if (std::fabs(d) < 9e18 || !std::isfinite(d)) return Value::integer(real_to_whole(Value::real(d)));
  return Value::object(std::make_shared<BigIntegerObject>(fmt::format("{:.0f}", d)));
}

Value filter_int(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_int", {"value", "default", "base"}, 1}, args);
  const Value fallback = a[1].is_missing() ? Value::integer(0) : a[1];
  if (a[0].is_undefined()) raise_undefined(a[0]);
  if (a[0].is_string()) {
    const Value whole = parse_whole(in, a[0].text(), a[2].is_missing() ? 10 : whole_number(a[2], ""));
    if (!whole.is_missing()) return whole;
    const auto real = parse_real(in, a[0].text());
    if (!real || std::isnan(*real)) return fallback;
    return whole_of(*real);
  }
  if (a[0].is_object(ObjectKind::big_integer)) return a[0];
  if (!is_number(a[0]) || (a[0].is(Kind::real) && std::isnan(a[0].as_real()))) return fallback;
  return a[0].is_whole() ? Value::integer(a[0].as_int()) : whole_of(a[0].as_real());
}

Value filter_float(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_float", {"value", "default"}, 1}, args);
  if (a[0].is_undefined()) raise_undefined(a[0]);
  if (is_number(a[0])) return Value::real(a[0].as_real());
  std::optional<double> real;
  if (a[0].is_string()) real = parse_real(in, a[0].text());
  if (a[0].is_object(ObjectKind::big_integer)) real = std::strtod(a[0].get<BigIntegerObject>().digits.c_str(), nullptr);
  if (real) return Value::real(*real);
  return a[1].is_missing() ? Value::real(0) : a[1];
}

Value filter_abs(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"abs", {"x"}, 1}, args);
  if (a[0].is_whole()) return a[0].as_int() < 0 ? in.negate(a[0], true) : Value::integer(a[0].as_int());
  if (a[0].is(Kind::real)) return Value::real(std::fabs(a[0].as_real()));
  raise("TypeError", "bad operand type for abs(): '{}'", type_name(a[0]));
}

// round(int, -n): to a power of ten, ties to even.
int64_t round_whole(int64_t value, int64_t precision) {
  if (precision >= 0) return value;
  if (precision < -18) return 0;
  int64_t unit = 1;
  for (int64_t i = precision; i < 0; ++i) unit *= 10;
  int64_t down = value / unit * unit;
  if (value % unit < 0) down -= unit;
  const int64_t over = value - down;
  const bool up = over > unit / 2 || (over == unit / 2 && (down / unit) % 2 != 0);
  int64_t out = 0;
  if (__builtin_add_overflow(down, up ? unit : 0, &out))
    raise("OverflowError", "the integer result does not fit into 64 bits");
  return out;
}

double round_real(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 323) return value;
  if (precision < -308) return 0.0 * value;
  if (precision < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-precision));
    return std::nearbyint(value / unit) * unit;
  }
  char buffer[700];  // 309 digits, the point and 323 more
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(precision), value);
  return std::strtod(buffer, nullptr);
}

Value filter_round(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_round", {"value", "precision", "method"}, 1}, args);
  const std::string method = a[2].is_missing() ? "common" : in.text_of(a[2]).bytes();
  if (method != "common" && method != "ceil" && method != "floor") {
    raise("FilterArgumentError", "method must be common, ceil or floor");
  }
  const int64_t precision = a[1].is_missing() ? 0 : whole_number(a[1], "");
  if (method == "common") {
    if (a[0].is_whole()) return Value::integer(round_whole(a[0].as_int(), precision));
    if (!a[0].is(Kind::real)) raise("TypeError", "type {} doesn't define __round__ method", type_name(a[0]));
    return Value::real(round_real(a[0].as_real(), precision));
  }
  const Value unit = in.binary(Op::pow, Value::integer(10), Value::integer(precision));
  const Value scaled = in.binary(Op::mul, a[0], unit);
  if (!is_number(scaled)) raise("TypeError", "must be real number, not {}", type_name(scaled));
  const double whole = method == "ceil" ? std::ceil(scaled.as_real()) : std::floor(scaled.as_real());
  const Value number = scaled.is_whole() ? scaled : Value::integer(real_to_whole(Value::real(whole)));
  return in.binary(Op::div, number, unit);
}

Value filter_filesizeformat(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_filesizeformat", {"value", "binary"}, 1}, args);
  if (a[0].is_undefined()) raise_undefined(a[0]);
  std::optional<double> bytes;
  if (is_number(a[0])) bytes = a[0].as_real();
  if (a[0].is_string()) {
    bytes = parse_real(in, a[0].text());
    if (!bytes) raise("ValueError", "could not convert string to float: {}", repr(a[0], in.budget));
  }
  if (!bytes) raise("TypeError", "float() argument must be a string or a real number, not '{}'", type_name(a[0]));
  const bool binary = !a[1].is_missing() && truthy(a[1]);
  const double base = binary ? 1024 : 1000;
  if (*bytes == 1) return Value::trusted_string("1 Byte");
  if (*bytes < base) return Value::trusted_string(fmt::format("{} Bytes", real_to_whole(Value::real(*bytes))));
  static constexpr const char* kPrefixes[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  double unit = base;
  const char* prefix = "";
  for (const char* p : kPrefixes) {
    unit *= base;
    prefix = p;
    if (*bytes < unit) break;
  }
  std::string out = fmt::format("{:.1f} ", base * *bytes / unit);
  out += binary ? fmt::format("{}iB", prefix[0] == 'k' ? 'K' : prefix[0]) : prefix;
  return Value::trusted_string(out);
}

}  // namespace

Builtin find_number_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kFilters = {
      {"int", &filter_int},
      {"float", &filter_float},
      {"abs", &filter_abs},
      {"round", &filter_round},
      {"filesizeformat", &filter_filesizeformat},
  };
  const auto at = kFilters.find(name);
  return at == kFilters.end() ? nullptr : at->second;
}

Builtin find_filter(std::string_view name) {
  for (Builtin (*find)(std::string_view) :
       {&find_string_filter, &find_sequence_filter, &find_select_filter, &find_layout_filter, &find_number_filter}) {
    if (const Builtin found = find(name); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace ridge::jinja
