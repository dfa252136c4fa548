// Owns the tables' use; see unicode.h for what they are.
#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/jinja/case_tables.h"

namespace ridge::jinja {

namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

const char* long_case(const LongCase* table, size_t n, char32_t c) {
  const LongCase* at =
      std::lower_bound(table, table + n, c, [](const LongCase& row, char32_t x) { return row.from < x; });
  return at != table + n && at->from == c ? at->to : nullptr;
}

char32_t simple(char32_t c, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
  return static_cast<char32_t>(map(static_cast<utf8proc_int32_t>(c)));
}

bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x2019;
  }
}

// Greek capital sigma becomes a final sigma at the end of a word (Unicode 3.13, as in CPython).
bool is_final_sigma(std::string_view text, size_t at) {
  bool before = false;
  for (size_t i = at; i > 0;) {
    do --i;
    while (i > 0 && (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80);
    const char32_t c = utf8_read(text, i).code;
    if (is_case_ignorable(c)) continue;
    before = is_cased(c);
    break;
  }
  if (!before) return false;
  for (size_t i = at + 2; i < text.size();) {
    const Utf8Char c = utf8_read(text, i);
    i += c.n_bytes;
    if (is_case_ignorable(c.code)) continue;
    return !is_cased(c.code);
  }
  return true;
}

constexpr char32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;

void append_lower(std::string& out, std::string_view text, size_t at, char32_t c) {
  if (c == kCapitalSigma && is_final_sigma(text, at)) {
    utf8_append(out, kFinalSigma);
  } else {
    append_mapped(out, c, Case::lower);
  }
}

bool is_all_ascii(std::string_view text) {
  uint8_t bits = 0;
  for (const char c : text) bits |= static_cast<uint8_t>(c);
  return bits < 0x80;
}

// f(out, offset, character) appends what becomes of each character; the origin of each is kept.
template <class F>
MarkedText map_chars(const MarkedText& text, F&& f) {
  MarkedText out;
  out.reserve(text.size());
  size_t base = 0;
  std::string mapped;
  text.for_each_part([&](std::string_view part, bool trusted) {
    mapped.clear();
    for (size_t i = 0; i < part.size();) {
      const Utf8Char c = utf8_read(part, i);
      f(mapped, base + i, c.code);
      i += c.n_bytes;
    }
    out.append(mapped, trusted);
    base += part.size();
  });
  return out;
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_alpha(char32_t c) {
  const utf8proc_category_t k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(char32_t c) {
  if (is_decimal(c)) return true;
  return c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079) ||
         (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468) || (c >= 0x2474 && c <= 0x247C) ||
         (c >= 0x2488 && c <= 0x2490) || (c >= 0x1369 && c <= 0x1371) || (c >= 0x24F5 && c <= 0x24FD) || c == 0x24EA ||
         c == 0x24FF || (c >= 0x2776 && c <= 0x277E) || (c >= 0x2780 && c <= 0x2788) || (c >= 0x278A && c <= 0x2792);
}

bool is_numeric(char32_t c) {
  const utf8proc_category_t k = category(c);
  if (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO) return true;
  for (const char32_t han :
       U"\u4E00\u4E8C\u4E09\u56DB\u4E94\u516D\u4E03\u516B\u4E5D\u5341\u767E\u5343\u842C\u4E07\u5104\u4EBF") {
    if (han == c && c != 0) return true;
  }
  return false;
}

bool is_alnum(char32_t c) {
  return is_alpha(c) || is_digit(c) || is_numeric(c);
}

bool is_lower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA || (c >= 0x2170 && c <= 0x217F) ||
         (c >= 0x24D0 && c <= 0x24E9);
}

bool is_upper(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  return category(c) == UTF8PROC_CATEGORY_LU || (c >= 0x2160 && c <= 0x216F) || (c >= 0x24B6 && c <= 0x24CF);
}

bool is_title(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LT;
}

bool is_identifier_start(char32_t c) {
  if (c < 0x80) return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_alpha(c) || category(c) == UTF8PROC_CATEGORY_NL;
}

bool is_identifier_part(char32_t c) {
  if (is_identifier_start(c)) return true;
  if (c < 0x80) return c >= '0' && c <= '9';
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

bool is_line_break(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

void append_mapped(std::string& out, char32_t c, Case to) {
  if (to == Case::swap) to = is_upper(c) ? Case::lower : Case::upper;
  const char* several = nullptr;
  switch (to) {
    case Case::upper:
      several = long_case(kUpperCase, kNUpperCase, c);
      break;
    case Case::title:
      several = long_case(kTitleCase, kNTitleCase, c);
      break;
    case Case::fold:
      several = long_case(kFoldCase, kNFoldCase, c);
      break;
    default:
      if (c == 0x130) several = "i\xCC\x87";  // the one long lower case
      break;
  }
  if (several != nullptr) {
    out += several;
    return;
  }
  switch (to) {
    case Case::upper:
      utf8_append(out, simple(c, utf8proc_toupper));
      return;
    case Case::title:
      utf8_append(out, simple(c, utf8proc_totitle));
      return;
    case Case::fold:
      if (c == kFinalSigma) return utf8_append(out, 0x3C3);
      if (c == 0xB5) return utf8_append(out, 0x3BC);
      if (c == 0x17F) return out.push_back('s');
      [[fallthrough]];
    default:
      utf8_append(out, simple(c, utf8proc_tolower));
      return;
  }
}

MarkedText map_case(const MarkedText& text, Case to) {
  if (to != Case::swap && is_all_ascii(text.view())) {
    MarkedText out = text;
    const bool up = to == Case::upper || to == Case::title;
    for (size_t i = 0; i < out.size(); ++i) {
      const char c = out.view()[i];
      if (up ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') out.set_byte(i, static_cast<char>(c ^ 0x20));
    }
    return out;
  }
  return map_chars(text, [&](std::string& out, size_t at, char32_t c) {
    if (to == Case::lower || (to == Case::swap && is_upper(c))) {
      append_lower(out, text.view(), at, c);
    } else {
      append_mapped(out, c, to);
    }
  });
}

MarkedText capitalize(const MarkedText& text) {
  return map_chars(text, [&](std::string& out, size_t at, char32_t c) {
    if (at == 0) {
      append_mapped(out, c, Case::title);
    } else {
      append_lower(out, text.view(), at, c);
    }
  });
}

MarkedText title_words(const MarkedText& text) {
  bool in_word = false;
  return map_chars(text, [&](std::string& out, size_t at, char32_t c) {
    if (in_word) {
      append_lower(out, text.view(), at, c);
    } else {
      append_mapped(out, c, Case::title);
    }
    in_word = is_cased(c);
  });
}

size_t byte_offset(std::string_view text, size_t n_chars, size_t char_idx) {
  if (n_chars == text.size()) return std::min(char_idx, text.size());
  size_t at = 0;
  for (size_t n = 0; at < text.size(); ++at) {
    if ((static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) continue;
    if (n++ == char_idx) break;
  }
  return at;
}

size_t count_chars(std::string_view text) {
  size_t n = 0;
  for (const char c : text) n += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return n;
}

}  // namespace ridge::jinja
