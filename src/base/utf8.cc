#include "base/utf8.h"

namespace ridge {

Utf8Char utf8_read(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t b0 = byte(at);
  if (b0 < 0x80) return {b0, 1, true, false};
  int n = 0;
  uint8_t lo = 0x80, hi = 0xBF;  // range allowed for the second byte (Unicode 15, table 3-7)
  char32_t code = 0;
  if (b0 >= 0xC2 && b0 <= 0xDF) {
    n = 2, code = b0 & 0x1F;
  } else if (b0 >= 0xE0 && b0 <= 0xEF) {
    n = 3, code = b0 & 0x0F;
    if (b0 == 0xE0) lo = 0xA0;
    if (b0 == 0xED) hi = 0x9F;
  } else if (b0 >= 0xF0 && b0 <= 0xF4) {
    n = 4, code = b0 & 0x07;
    if (b0 == 0xF0) lo = 0x90;
    if (b0 == 0xF4) hi = 0x8F;
  } else {
    return {0xFFFD, 1, false, false};
  }
  for (int i = 1; i < n; ++i) {
    if (at + i >= text.size()) return {0xFFFD, static_cast<uint8_t>(i), false, true};
    const uint8_t b = byte(at + i);
    if (b < lo || b > hi) return {0xFFFD, static_cast<uint8_t>(i), false, false};
    lo = 0x80, hi = 0xBF;
    code = (code << 6) | (b & 0x3F);
  }
  return {code, static_cast<uint8_t>(n), true, false};
}

void utf8_append(std::string& out, char32_t c) {
  const auto put = [&](char32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

bool utf8_is_valid(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_read(text, i);
    if (!c.valid) return false;
    i += c.n_bytes;
  }
  return true;
}

size_t utf8_complete_prefix(std::string_view text) {
  // Only the last three bytes can begin a character that is not finished.
  const size_t from = text.size() > 3 ? text.size() - 3 : 0;
  for (size_t i = from; i < text.size(); ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xC0) == 0x80) continue;
    const Utf8Char c = utf8_read(text, i);
    if (c.truncated && i + c.n_bytes == text.size()) return i;
  }
  return text.size();
}

std::string utf8_sanitise(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_read(text, i);
    if (c.valid) {
      out.append(text.substr(i, c.n_bytes));
    } else {
      out.append("\xEF\xBF\xBD");
    }
    i += c.n_bytes;
  }
  return out;
}

}  // namespace ridge
