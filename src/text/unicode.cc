// The table of character classes. Truth: utf8proc's general categories and canonical mappings; the ranges of \p{Han}
// from Scripts.txt (Unicode 15), white space from PropList.txt.
#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "text/nfc.h"

namespace ridge::text {
namespace {

struct Range {
  uint32_t first, last;
};

constexpr Range kHanRanges[] = {
    {0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},   {0x3007, 0x3007},
    {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},
    {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3}, {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739},
    {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0}, {0x2F800, 0x2FA1D}, {0x30000, 0x3134A},
    {0x31350, 0x323AF},
};

constexpr Range kSpaceRanges[] = {
    {0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
};

uint16_t class_of_category(int category) {
  switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kLetter | kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLetter | kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter | kUpper | kLower;
    case UTF8PROC_CATEGORY_MN:
      return kMark | kUpper | kLower | kNonSpacing;
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark | kUpper | kLower;
    case UTF8PROC_CATEGORY_ND:
      return kNumber | kDigit;
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kPunct;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSymbol;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return kControl;
    default:
      return 0;  // separators get kSpace from their own list; unassigned code points have no class
  }
}

// Planes 4 to 13 are unassigned throughout; asking for each of their 655,360 code points would be most of the work.
bool is_empty_plane(uint32_t code) {
  return code >= 0x40000 && code < 0xE0000;
}

}  // namespace

CharTable::CharTable() {
  std::vector<uint16_t> flat(kCodes, 0);
  for (uint32_t code = 0; code < kCodes; ++code) {
    if (is_empty_plane(code)) continue;
    flat[code] = class_of_category(utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->category);
  }
  for (const Range& r : kHanRanges) {
    for (uint32_t code = r.first; code <= r.last; ++code) flat[code] |= kHan;
  }
  for (const Range& r : kSpaceRanges) {
    for (uint32_t code = r.first; code <= r.last; ++code) flat[code] |= kSpace;
  }
  flat['\r'] |= kNewline;
  flat['\n'] |= kNewline;
  for (const uint32_t code : codes_that_nfc_may_change()) flat[code] |= kNfcCheck;

  std::vector<uint64_t> sums;
  for (uint32_t page = 0; page < (kCodes >> 8); ++page) {
    const uint16_t* from = flat.data() + static_cast<size_t>(page) * 256;
    uint64_t sum = 1469598103934665603u;
    for (int i = 0; i < 256; ++i) sum = (sum ^ from[i]) * 1099511628211u;
    size_t at = 0;
    while (at < sums.size() && (sums[at] != sum || std::memcmp(pages_.data() + at * 256, from, 512) != 0)) ++at;
    if (at == sums.size()) {
      sums.push_back(sum);
      pages_.insert(pages_.end(), from, from + 256);
    }
    index_[page] = static_cast<uint16_t>(at);
  }
}

const CharTable& char_table() {
  static const CharTable table;
  return table;
}

}  // namespace ridge::text
