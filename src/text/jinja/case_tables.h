// Tables behind unicode.cc.
#pragma once

#include <cstddef>

namespace ridge::jinja {

struct LongCase {
  char32_t from;
  const char* to;  // UTF-8
};

extern const LongCase kUpperCase[], kTitleCase[], kFoldCase[];
extern const size_t kNUpperCase, kNTitleCase, kNFoldCase;

}  // namespace ridge::jinja
