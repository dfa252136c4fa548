// Owns signs, prefixes, grouping, padding and precision; refuses widths and precisions that only make long text.
#include "text/jinja/format_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

constexpr int64_t kMaxPrecision = 1000;  // digits; more would only be zeros

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

int64_t read_number(std::string_view spec, size_t& at) {
  int64_t n = 0;
  while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9') {
    n = n * 10 + (spec[at++] - '0');
    if (n > 100'000'000) raise("ValueError", "Too many decimal digits in format string");
  }
  return n;
}

std::string grouped(const std::string& digits, char separator, size_t every) {
  if (separator == 0) return digits;
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % every == 0) out += separator;
    out += digits[i];
  }
  return out;
}

// sign and prefix, then digits, to the width. Zeros go between the two.
std::string lay_out(Interpreter& in, std::string head, std::string body, const NumberFormat& f) {
  const auto width = static_cast<size_t>(std::max<int64_t>(0, f.width));
  const size_t n = head.size() + count_chars(body);
  if (n >= width) return head + body;
  in.budget.make_bytes(width * 4);
  const size_t room = width - n;
  if (f.zero) return head + std::string(room, '0') + body;
  const auto fill = [&](size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += f.fill;
    return out;
  };
  switch (f.align) {
    case '=':
      return head + fill(room) + body;
    case '<':
      return head + body + fill(room);
    case '^':
      return fill(room / 2) + head + body + fill(room - room / 2);
    default:
      return fill(room) + head + body;
  }
}

std::string print_real(double value, char conversion, int64_t precision, bool alternate) {
  if (precision > kMaxPrecision)
    raise_limit("a precision of {} digits passes the limit of {}", precision, kMaxPrecision);
  char format[8];
  std::snprintf(format, sizeof format, "%%%s.*%c", alternate ? "#" : "", conversion);
  const int n = std::snprintf(nullptr, 0, format, static_cast<int>(precision), value);
  std::string out(static_cast<size_t>(n) + 1, '\0');
  std::snprintf(out.data(), out.size(), format, static_cast<int>(precision), value);
  out.pop_back();
  return out;
}

}  // namespace

NumberFormat parse_format_spec(std::string_view spec) {
  NumberFormat f;
  size_t at = 0;
  if (!spec.empty()) {
    const size_t first = utf8_read(spec, 0).n_bytes;
    if (first < spec.size() && is_align(spec[first])) {
      f.fill = std::string(spec.substr(0, first));
      f.align = spec[first];
      at = first + 1;
    } else if (is_align(spec[0])) {
      f.align = spec[0];
      at = 1;
    }
  }
  const auto is = [&](char c) { return at < spec.size() && spec[at] == c; };
  if (is('+') || is('-') || is(' ')) f.sign = spec[at++];
  if (is('#')) f.alternate = true, ++at;
  if (is('0')) {
    ++at;
    if (f.align == 0) f.zero = true, f.align = '=', f.fill.assign(1, '0');
  }
  f.width = read_number(spec, at);
  if (is(',') || is('_')) f.grouping = spec[at++];
  if (is('.')) {
    const size_t before = ++at;
    f.precision = read_number(spec, at);
    if (at == before) raise("ValueError", "Format specifier missing precision");
  }
  if (at < spec.size()) f.type = spec[at++];
  if (at < spec.size()) raise("ValueError", "Invalid format specifier");
  if (f.zero) f.zero = false;  // "=" with "0" as its fill says the same
  return f;
}

std::string layout_whole(Interpreter& in, int64_t value, const NumberFormat& f) {
  if (f.type == 'c') {
    if (value < 0 || value > 0x10FFFF) raise("OverflowError", "%c arg not in range(0x110000)");
    std::string c;
    utf8_append(c, static_cast<char32_t>(value));
    return lay_out(in, "", c, f);
  }
  const uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int base = f.type == 'x' || f.type == 'X' ? 16 : f.type == 'o' ? 8 : f.type == 'b' ? 2 : 10;
  char buffer[72];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr;
  std::string digits(buffer, static_cast<size_t>(end - buffer));
  if (f.type == 'X')
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  if (f.precision && static_cast<int64_t>(digits.size()) < *f.precision) {
    if (*f.precision > kMaxPrecision)
      raise_limit("a precision of {} digits passes the limit of {}", *f.precision, kMaxPrecision);
    digits.insert(0, static_cast<size_t>(*f.precision) - digits.size(), '0');
  }
  std::string head = value < 0 ? "-" : f.sign == '+' ? "+" : f.sign == ' ' ? " " : "";
  if (f.alternate && base != 10) head += base == 16 ? (f.type == 'X' ? "0X" : "0x") : base == 8 ? "0o" : "0b";
  if (f.grouping != 0 && f.align == '=' && f.fill == "0") {
    // Zeros are grouped with the digits.
    const size_t every = base == 10 ? 3 : 4;
    while (head.size() + grouped(digits, f.grouping, every).size() < static_cast<size_t>(f.width)) {
      in.budget.charge(digits.size());
      digits.insert(digits.begin(), '0');
    }
  }
  return lay_out(in, head, grouped(digits, f.grouping, base == 10 ? 3 : 4), f);
}

std::string layout_real(Interpreter& in, double value, const NumberFormat& f) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::fabs(value);
  const std::string head = negative ? "-" : f.sign == '+' ? "+" : f.sign == ' ' ? " " : "";
  const bool upper = f.type == 'E' || f.type == 'F' || f.type == 'G';
  if (!std::isfinite(value)) {
    NumberFormat plain = f;
    plain.zero = false;
    std::string word = std::isnan(value) ? "nan" : "inf";
    if (upper) word = std::isnan(value) ? "NAN" : "INF";
    return lay_out(in, head, word + (f.type == '%' ? "%" : ""), plain);
  }
  std::string body;
  if (f.type == 0 && !f.precision) {
    body = format_real(magnitude);
  } else if (f.type == 0) {
    // As 'g', but with a digit behind the point.
    body = print_real(magnitude, 'g', std::max<int64_t>(1, *f.precision), f.alternate);
    if (body.find_first_of(".e") == std::string::npos) body += ".0";
  } else if (f.type == '%') {
    body = print_real(magnitude * 100, 'f', f.precision.value_or(6), f.alternate) + "%";
  } else {
    const char type = f.type == 'n' ? 'g' : f.type;
    body = print_real(magnitude, type, f.precision.value_or(6), f.alternate);
  }
  if (f.grouping != 0) {
    const size_t point = std::min(body.find_first_of(".eE%"), body.size());
    body = grouped(body.substr(0, point), f.grouping, 3) + body.substr(point);
  }
  return lay_out(in, head, body, f);
}

void pad_text(Interpreter& in, MarkedText& out, const MarkedText& text, const NumberFormat& f) {
  size_t n_chars = count_chars(text.view()), n_bytes = text.size();
  if (f.precision && static_cast<uint64_t>(*f.precision) < n_chars) {
    n_bytes = byte_offset(text.view(), n_chars, static_cast<size_t>(*f.precision));
    n_chars = static_cast<size_t>(*f.precision);
  }
  const size_t room = f.width > static_cast<int64_t>(n_chars) ? static_cast<size_t>(f.width) - n_chars : 0;
  in.budget.make_bytes(n_bytes + room * f.fill.size());
  const size_t left = f.align == '<' ? 0 : f.align == '^' ? room / 2 : room;
  for (size_t i = 0; i < left; ++i) out.append(f.fill, true);
  out.append(text, 0, n_bytes);
  for (size_t i = left; i < room; ++i) out.append(f.fill, true);
}

int64_t real_to_whole(const Value& number) {
  if (number.is_whole()) return number.as_int();
  const double d = number.as_real();
  if (std::isnan(d)) raise("ValueError", "cannot convert float NaN to integer");
  if (std::isinf(d)) raise("OverflowError", "cannot convert float infinity to integer");
  if (d >= 9223372036854775808.0 || d < -9223372036854775808.0) {
    raise("OverflowError", "the integer result does not fit into 64 bits");
  }
  return static_cast<int64_t>(d);
}

}  // namespace ridge::jinja
