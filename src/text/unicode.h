// Character classes as pre-tokenisers mean them (\p{L}, \p{N}, \s, \p{Han} ...) and a fast reader of UTF-8 that never
// fails: a byte that belongs to no character reads as U+FFFD of one byte. The classes come from utf8proc (Unicode 15),
// \p{Han} from Scripts.txt, white space from PropList.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ridge::text {

enum CharClass : uint16_t {
  kLetter = 1 << 0,       // \p{L}
  kNumber = 1 << 1,       // \p{N}
  kSpace = 1 << 2,        // \s: the property White_Space
  kMark = 1 << 3,         // \p{M}
  kPunct = 1 << 4,        // \p{P}
  kSymbol = 1 << 5,       // \p{S}
  kUpper = 1 << 6,        // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]: may begin a word in the cased splitters
  kLower = 1 << 7,        // [\p{Ll}\p{Lm}\p{Lo}\p{M}]: may end one
  kHan = 1 << 8,          // \p{Han}
  kDigit = 1 << 9,        // \p{Nd}
  kControl = 1 << 10,     // \p{Cc}, \p{Cf} and the rest of \p{C}
  kNewline = 1 << 11,     // \r and \n
  kNonSpacing = 1 << 12,  // \p{Mn}
  kNfcCheck = 1 << 13,    // may change under NFC, alone or after what stands before it
};

// Two levels; pages that are equal are stored once. Built once a process, in about two milliseconds.
class CharTable {
 public:
  CharTable();
  uint16_t of(uint32_t code) const {
    return code < kCodes ? pages_[static_cast<size_t>(index_[code >> 8]) * 256 + (code & 255)] : 0;
  }
  uint16_t ascii(uint8_t byte) const { return pages_[byte]; }  // byte < 128; page 0 is stored first

 private:
  static constexpr uint32_t kCodes = 0x110000;
  uint16_t index_[kCodes >> 8];
  std::vector<uint16_t> pages_;
};

const CharTable& char_table();

struct Char {
  uint32_t code;
  uint32_t n_bytes;
  bool valid;
};

// The character at p < end.
inline Char read_char(const char* p, const char* end) {
  const auto* b = reinterpret_cast<const uint8_t*>(p);
  if (b[0] < 0x80) return {b[0], 1, true};
  const auto n = static_cast<size_t>(end - p);
  const auto tail = [&](size_t i) { return (b[i] & 0xC0) == 0x80; };
  if (b[0] >= 0xC2 && b[0] <= 0xDF && n >= 2 && tail(1)) return {(b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu), 2, true};
  if ((b[0] & 0xF0) == 0xE0 && n >= 3 && tail(1) && tail(2)) {
    const uint32_t code = (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
    if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3, true};
  }
  if (b[0] >= 0xF0 && b[0] <= 0xF4 && n >= 4 && tail(1) && tail(2) && tail(3)) {
    const uint32_t code = (b[0] & 0x07u) << 18 | (b[1] & 0x3Fu) << 12 | (b[2] & 0x3Fu) << 6 | (b[3] & 0x3Fu);
    if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4, true};
  }
  return {0xFFFD, 1, false};
}

// A character with its class; n_bytes 0 and class 0 at the end of the text.
struct Classed {
  uint32_t code;
  uint32_t n_bytes;
  uint16_t cls;
};

inline Classed classed_at(const CharTable& table, const char* p, const char* end) {
  if (p >= end) return {0xFFFFFFFF, 0, 0};
  const auto byte = static_cast<uint8_t>(*p);
  if (byte < 0x80) return {byte, 1, table.ascii(byte)};
  const Char c = read_char(p, end);
  return {c.code, c.n_bytes, table.of(c.code)};
}

}  // namespace ridge::text
