// A small regular expression, for patterns that users give on the command line and names of tens of bytes: literals,
// . [a-z] [^...] \d \w \s and their capitals, groups, |, * + ? {m,n}, ^ and $. No captures, no look-around, no
// references to groups: they are refused. Searching takes time in proportion to pattern times text, whatever both say
// (Thompson 1968: all states at once, nothing is tried twice). Immutable, any thread.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ridge {

class Pattern {
 public:
  static constexpr size_t kMaxBytes = 4096;   // of a pattern
  static constexpr size_t kMaxStates = 8192;  // after counted repetitions are written out
  static constexpr int kMaxDepth = 64;        // groups in groups

  // Errors: invalid_argument (what is wrong and at which byte), limit.
  static Result<Pattern> parse(std::string_view text);
  // Whether the pattern is found anywhere in the text.
  bool found_in(std::string_view text) const;

 private:
  friend class PatternParser;
  enum class Kind : uint8_t { set, split, begin, end, match };
  struct State {
    Kind kind = Kind::match;
    uint32_t next = 0, other = 0;  // other: the second way of a split
    uint32_t set = 0;
  };
  void follow(uint32_t state, size_t at, size_t size, std::vector<uint32_t>& list, std::vector<size_t>& seen) const;

  std::vector<State> states_;
  std::vector<std::bitset<256>> sets_;
  uint32_t start_ = 0;
};

}  // namespace ridge
