// Patterns against what they must and must not find, against a slow twin, and against input made to be slow or wrong.
#include "base/pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"

namespace ridge {
namespace {

bool found(std::string_view pattern, std::string_view text) {
  const auto p = Pattern::parse(pattern);
  EXPECT_TRUE(p) << pattern << ": " << (p ? "" : p.error().message);
  return p && p->found_in(text);
}

TEST(Pattern, finds_what_it_describes_anywhere_in_the_text) {
  EXPECT_TRUE(found("attn_v", "blk.3.attn_v.weight"));
  EXPECT_FALSE(found("^attn_v", "blk.3.attn_v.weight"));
  EXPECT_TRUE(found(R"(^blk\.(1[0-9]|2)\.ffn_(up|gate)\.weight$)", "blk.17.ffn_gate.weight"));
  EXPECT_FALSE(found(R"(^blk\.(1[0-9]|2)\.ffn_(up|gate)\.weight$)", "blk.27.ffn_gate.weight"));
  EXPECT_TRUE(found(R"(blk\.\d{2,3}\.)", "blk.123.x"));
  EXPECT_FALSE(found(R"(blk\.\d{2,3}\.)", "blk.1.x"));
  EXPECT_TRUE(found("a{3}", "baaab"));
  EXPECT_FALSE(found("ba{3}b", "baab"));
  EXPECT_TRUE(found("ba{2,}b", "baaaab"));
  EXPECT_TRUE(found("[^0-9]-?x", "a-x"));
  EXPECT_TRUE(found("[]a]", "]"));
  EXPECT_TRUE(found("[a-]b", "-b"));
  EXPECT_TRUE(found("", "anything"));
  EXPECT_TRUE(found("a||b", ""));
  EXPECT_TRUE(found("(?:ab)+$", "xabab"));
  EXPECT_TRUE(found(".*", ""));
  EXPECT_TRUE(found(R"(\W\S\w)", "=x_"));
  EXPECT_FALSE(found("^$", "a"));
}

TEST(Pattern, what_is_not_understood_is_refused_with_its_place) {
  for (const char* text : {"(", ")", "a)", "[a", "[b-a]", "*a", "+", "a{", "a{x}", "a{3,2}", "a{2000}", "\\", "\\1",
                           "\\b", "(?=a)", "(?<n>a)", "{2}"}) {
    const auto p = Pattern::parse(text);
    ASSERT_FALSE(p) << text;
    EXPECT_EQ(p.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_NE(p.error().message.find("byte"), std::string::npos) << text;
  }
  EXPECT_EQ(Pattern::parse(std::string(Pattern::kMaxBytes + 1, 'a')).error().code, ErrorCode::limit);
  EXPECT_TRUE(Pattern::parse(std::string(Pattern::kMaxBytes, 'a')));
  EXPECT_EQ(Pattern::parse("((a{1000}){1000}){1000}").error().code, ErrorCode::limit);
  EXPECT_FALSE(Pattern::parse(std::string(1000, '(') + std::string(1000, ')')));
  EXPECT_TRUE(Pattern::parse(std::string(60, '(') + std::string(60, ')')));
}

TEST(Pattern, nested_stars_take_no_more_than_their_states) {
  EXPECT_FALSE(found("(a*)*b", std::string(3000, 'a')));
  EXPECT_FALSE(found("(a|a)*$x", std::string(3000, 'a')));
  EXPECT_FALSE(found("(a?){30}a{30}b", std::string(59, 'a')));
}

// The slow twin, which tries every way: whether `t` begins with a match of `p`, a list of literals and '.', each with
// or without a star or a question mark.
bool twin(std::string_view p, std::string_view t) {
  if (p.empty()) return true;
  const char mark = p.size() > 1 && (p[1] == '*' || p[1] == '?') ? p[1] : '\0';
  const auto fits = [&](char c) { return p[0] == '.' || p[0] == c; };
  const std::string_view rest = p.substr(mark != '\0' ? 2 : 1);
  if (mark == '\0') return !t.empty() && fits(t[0]) && twin(rest, t.substr(1));
  if (twin(rest, t)) return true;
  return !t.empty() && fits(t[0]) && twin(mark == '*' ? p : rest, t.substr(1));
}

TEST(Pattern, agrees_with_a_matcher_that_tries_every_way) {
  for (uint64_t round = 0; round < 3000; ++round) {
    std::string pattern, text;
    const auto draw = [&](uint64_t what, uint64_t n) { return random_bits(11, round, what) % n; };
    for (uint64_t i = 0; i < 1 + draw(0, 5); ++i) {
      pattern += "ab."[draw(10 + i, 3)];
      if (const uint64_t mark = draw(20 + i, 3); mark > 0) pattern += mark == 1 ? '*' : '?';
    }
    for (uint64_t i = 0; i < draw(1, 7); ++i) text += "abc"[draw(30 + i, 3)];
    bool expected = false;
    for (size_t at = 0; at <= text.size(); ++at) expected |= twin(pattern, std::string_view(text).substr(at));
    ASSERT_EQ(found(pattern, text), expected) << pattern << " in " << text;
  }
}

}  // namespace
}  // namespace ridge
