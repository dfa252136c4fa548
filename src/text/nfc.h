// Unicode normalisation form C, for the tokenisers whose originals normalise (Qwen, GPT-NeoX): "e" + U+0301 and U+00E9
// must give the same ids. Text that is already normal, which is nearly all text, costs one look at each byte. Truth:
// UAX #15; mappings from utf8proc. Own ordering and composition, because utf8proc sorts combining marks in quadratic
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text {

// True where text certainly is in form C. False means only that nfc() has to look.
bool surely_nfc(std::string_view text);

// Bytes that are not UTF-8 pass through and separate.
std::string nfc(std::string_view text);

// Canonical decomposition of one code point, appended.
void append_nfd(std::vector<uint32_t>& out, uint32_t code);

// For the class table: every code point that composition or decomposition may touch, except a first one (a base
// letter).
std::vector<uint32_t> codes_that_nfc_may_change();

}  // namespace ridge::text
