// What the tests of this folder share: compiled grammars, small vocabularies, whole-text questions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "text/grammar/gbnf.h"
#include "text/grammar/json_gbnf.h"
#include "text/grammar/token_matcher.h"

namespace ridge::grammar::testing {

inline std::shared_ptr<const Automaton> automaton_of(const Grammar& g) {
  auto a = compile(g);
  EXPECT_TRUE(a.has_value()) << (a ? "" : a.error().message);
  return a ? *a : nullptr;
}

inline std::shared_ptr<const Automaton> gbnf(const std::string& source) {
  auto g = parse_gbnf(source);
  EXPECT_TRUE(g.has_value()) << (g ? "" : g.error().message) << "\n" << source;
  return g ? automaton_of(*g) : nullptr;
}

// The error of parsing or compiling; "" when there is none.
inline std::string gbnf_error(const std::string& source) {
  auto g = parse_gbnf(source);
  if (!g) return g.error().message;
  auto a = compile(*g);
  return a ? "" : a.error().message;
}

enum class Match { no, beginning, whole };

inline Match match(const Automaton& a, std::string_view text) {
  Machine m(a);
  ConfigId at = m.start();
  for (const char c : text) at = m.step(at, static_cast<uint8_t>(c));
  return at == Machine::kDead ? Match::no : m.ends(at) ? Match::whole : Match::beginning;
}

inline bool accepts(const std::shared_ptr<const Automaton>& a, std::string_view text) {
  return a != nullptr && match(*a, text) == Match::whole;
}

// All bytes and the pieces given; the last id ends the text.
struct Vocabulary {
  std::vector<std::string> pieces;
  std::shared_ptr<const TokenTrie> trie;
  int32_t end = 0;
  explicit Vocabulary(const std::vector<std::string>& more, bool with_bytes = true) {
    for (int b = 0; with_bytes && b < 256; ++b) pieces.emplace_back(1, static_cast<char>(b));
    pieces.insert(pieces.end(), more.begin(), more.end());
    end = static_cast<int32_t>(pieces.size());
    pieces.emplace_back("</s>");
    trie = std::make_shared<TokenTrie>(pieces, std::vector<int32_t>{end});
  }
  int32_t id(const std::string& piece) const {
    return static_cast<int32_t>(std::find(pieces.begin(), pieces.end(), piece) - pieces.begin());
  }
  TokenMatcher matcher(std::shared_ptr<const Automaton> a) const {
    return TokenMatcher(std::make_shared<MaskCache>(std::move(a), trie));
  }
};

inline bool allows(std::span<const uint32_t> mask, int32_t id) {
  return (mask[static_cast<size_t>(id) / 32] >> (id % 32) & 1) != 0;
}

// The pieces that may come next; an end token is "</s>".
inline std::vector<std::string> allowed(TokenMatcher& m, const Vocabulary& v) {
  std::vector<std::string> out;
  const auto mask = m.mask();
  for (size_t i = 0; mask && i < v.pieces.size(); ++i) {
    if (allows(*mask, static_cast<int32_t>(i))) out.push_back(v.pieces[i]);
  }
  return out;
}

}  // namespace ridge::grammar::testing
