// How Python lays out numbers and pads text, for the % operator and str.format alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/interpreter.h"

namespace ridge::jinja {

struct NumberFormat {
  std::string fill = " ";
  char align = 0;  // '<' '>' '^' '='
  char sign = 0;   // '+' ' ' '-'
  bool alternate = false, zero = false;
  int64_t width = 0;
  char grouping = 0;  // ',' '_'
  std::optional<int64_t> precision;
  char type = 0;
};

NumberFormat parse_format_spec(std::string_view spec);
std::string layout_whole(Interpreter& in, int64_t value, const NumberFormat& f);
std::string layout_real(Interpreter& in, double value, const NumberFormat& f);
void pad_text(Interpreter& in, MarkedText& out, const MarkedText& text, const NumberFormat& f);
int64_t real_to_whole(const Value& number);  // int(x): toward zero, OverflowError beyond 64 bits

}  // namespace ridge::jinja
