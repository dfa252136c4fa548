// What Python's str methods ask of characters: classes, case, white space. Classes come from utf8proc (Unicode 15), the
// case mappings that yield several characters from Unicode's SpecialCasing as Python applies it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "text/jinja/marked_text.h"

namespace ridge::jinja {

bool is_space(char32_t c);      // str.isspace, and what strip() removes
bool is_printable(char32_t c);  // what repr() does not escape
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_alnum(char32_t c);
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);
inline bool is_cased(char32_t c) {
  return is_lower(c) || is_upper(c) || is_title(c);
}
bool is_identifier_start(char32_t c);
bool is_identifier_part(char32_t c);
bool is_line_break(char32_t c);  // what splitlines() splits at

enum class Case { lower, upper, title, swap, fold };
void append_mapped(std::string& out, char32_t c, Case to);

// Whole texts; each byte keeps its origin.
MarkedText map_case(const MarkedText& text, Case to);
MarkedText capitalize(const MarkedText& text);
MarkedText title_words(const MarkedText& text);  // str.title()

// Byte offset of character n_chars_in of text; n_chars is the text's length in characters (equal to its size if ASCII).
size_t byte_offset(std::string_view text, size_t n_chars, size_t char_idx);
size_t count_chars(std::string_view text);

}  // namespace ridge::jinja
