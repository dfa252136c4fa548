// UTF-8, strictly: overlong forms, surrogates and values above U+10FFFF are invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

struct Utf8Char {
  char32_t code = 0;  // U+FFFD when !valid
  uint8_t n_bytes =
      0;  // bytes taken; for invalid input the maximal subpart (at least 1), as Unicode 15 ch. 3.9 advises
  bool valid = false;
  bool truncated = false;  // invalid only because the text ends inside a character that may still become valid
};

// Reads the character at text[at]. at < text.size().
Utf8Char utf8_read(std::string_view text, size_t at);

void utf8_append(std::string& out, char32_t code);

bool utf8_is_valid(std::string_view text);

// The length of the longest prefix that does not end inside an unfinished but so far valid character.
size_t utf8_complete_prefix(std::string_view text);

// Each maximal invalid part becomes one U+FFFD.
std::string utf8_sanitise(std::string_view text);

}  // namespace ridge
