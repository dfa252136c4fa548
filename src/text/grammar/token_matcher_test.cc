// Masks against a naive matcher, character borders inside tokens, ends only where the text is complete, forced tokens.
#include "text/grammar/token_matcher.h"

#include <set>

#include "base/rng.h"
#include "golden_dir.h"
#include "text/grammar/grammar_test_util.h"
#include "text/grammar/limits.h"
#include "text/grammar/naive_twin.h"

namespace ridge::grammar {
namespace {

using testing::allowed;
using testing::allows;
using testing::gbnf;
using testing::Vocabulary;

// Grammars over a, b, c and two characters of more bytes, made from a seed. No recursion but r0 -> "a" r0.
class RandomGrammar {
 public:
  explicit RandomGrammar(uint64_t seed) : seed_(seed) {}
  std::string make() {
    std::string out = "root ::= " + alternatives(2) + "\n";
    out += "r0 ::= " + alternatives(1, false) + " | [abc] r0 | \"(\" r0 \")\"\n";
    return out + "r1 ::= " + alternatives(1, false) + "\n";
  }

 private:
  uint64_t pick(uint64_t n) { return random_bits(seed_, 1, at_++) % n; }
  std::string alternatives(int depth, bool rules = true) {
    std::string out = sequence(depth, rules);
    for (uint64_t n = pick(3); n > 0; --n) out += " | " + sequence(depth, rules);
    return out;
  }
  std::string sequence(int depth, bool rules) {
    std::string out;
    for (uint64_t n = 1 + pick(3); n > 0; --n) out += item(depth, rules) + " ";
    return out;
  }
  std::string item(int depth, bool rules) {
    static constexpr const char* kItems[] = {
        "\"a\"",        "\"b\"",           "\"ab\"", "\"ca\"", "[a-b]", "[^a]", "\"\"", "[\xC3\xA9\xE4\xB8\xAD]",
        "\"\xC3\xA9\"", "[b-\xE4\xB8\xAD]"};
    static constexpr const char* kTimes[] = {"", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"};
    std::string out;
    if (depth > 0 && pick(3) == 0) {
      out = "(" + alternatives(depth - 1, rules) + ")";
    } else if (rules && pick(5) == 0) {
      out = pick(2) == 0 ? "r0" : "r1";
    } else {
      out = kItems[pick(std::size(kItems))];
    }
    return out + kTimes[pick(std::size(kTimes))];
  }
  uint64_t seed_, at_ = 0;
};

const std::vector<std::string>& small_pieces() {
  static const std::vector<std::string> pieces = {"ab",
                                                  "ba",
                                                  "aab",
                                                  "abc",
                                                  "ca",
                                                  "cab",
                                                  "(",
                                                  "((",
                                                  "()",
                                                  "a(",
                                                  ")b",
                                                  "\xC3\xA9",
                                                  "a\xC3",
                                                  "\xA9"
                                                  "b",
                                                  "\xC3\xA9"
                                                  "a",
                                                  "\xE4\xB8\xAD",
                                                  "\xE4\xB8",
                                                  "\xB8\xAD",
                                                  "\xAD"
                                                  "a",
                                                  "bb",
                                                  "bbb",
                                                  "cc",
                                                  "\xE4\xB8\xAD\xC3",
                                                  "aaaa",
                                                  "b)"};
  return pieces;
}

TEST(TokenMatcher, masks_equal_those_of_a_naive_matcher_on_random_grammars) {
  const Vocabulary v(small_pieces());
  const int n_grammars = ridge::testing::fast_run() ? 20 : 120;
  size_t n_compared = 0;
  int n_too_large = 0;
  for (int seed = 0; seed < n_grammars; ++seed) {
    const std::string source = RandomGrammar(static_cast<uint64_t>(seed)).make();
    const auto g = parse_gbnf(source);
    ASSERT_TRUE(g.has_value()) << source;
    const auto a = compile(*g);
    if (!a) {  // repetitions of repetitions: some are too large to be made deterministic, and say so
      ASSERT_EQ(a.error().code, ErrorCode::limit) << a.error().message;
      ++n_too_large;
      continue;
    }
    TokenMatcher m = v.matcher(*a);
    std::string text;
    for (uint64_t step = 0; step < 6; ++step) {
      const auto mask = m.mask();
      ASSERT_TRUE(mask.has_value()) << source << "\n" << text;
      std::vector<int32_t> can;
      for (int32_t id = 0; id < v.end; ++id) {
        const std::string longer = text + v.pieces[static_cast<size_t>(id)];
        ASSERT_EQ(allows(*mask, id), twin::Naive(*g, longer).is_beginning()) << source << "\n'" << longer << "'";
        if (allows(*mask, id)) can.push_back(id);
        ++n_compared;
      }
      ASSERT_EQ(allows(*mask, v.end), twin::Naive(*g, text).is_whole()) << source << "\n'" << text << "'";
      if (can.empty()) break;
      const int32_t next = can[random_bits(static_cast<uint64_t>(seed), 2, step) % can.size()];
      ASSERT_TRUE(m.accept(next));
      text += v.pieces[static_cast<size_t>(next)];
    }
  }
  EXPECT_GT(n_compared, 10'000U);
  EXPECT_LT(n_too_large, n_grammars / 4);
}

TEST(TokenMatcher, restarting_in_the_middle_changes_nothing) {
  const auto a = gbnf(testing::kJsonGbnf);
  Machine m(*a);
  ConfigId at = m.start();
  for (const char c : std::string_view("{\"a\": [[1, {\"b\": \"")) at = m.step(at, static_cast<uint8_t>(c));
  const size_t n = m.tops(at).size();
  at = m.restart(at);
  EXPECT_EQ(m.tops(at).size(), n);
  for (const char c : std::string_view("x\"}]]}")) at = m.step(at, static_cast<uint8_t>(c));
  EXPECT_TRUE(m.ends(at));
}

TEST(TokenMatcher, characters_may_be_split_over_tokens) {
  const Vocabulary v({"\xE4\xB8", "\xAD!", "\xAD"});
  TokenMatcher m = v.matcher(gbnf("root ::= \"\xE4\xB8\xAD\" \"!\""));
  EXPECT_EQ(allowed(m, v), (std::vector<std::string>{"\xE4", "\xE4\xB8"}));
  ASSERT_TRUE(m.accept(v.id("\xE4\xB8")));
  EXPECT_EQ(allowed(m, v), (std::vector<std::string>{"\xAD", "\xAD!", "\xAD"}));
  ASSERT_TRUE(m.accept(v.id("\xAD!")));
  EXPECT_EQ(allowed(m, v), std::vector<std::string>{"</s>"});
}

TEST(TokenMatcher, invalid_utf8_never_matches_any_character) {
  const Vocabulary v({});
  TokenMatcher m = v.matcher(gbnf("root ::= .*"));
  for (const int bad : {0x80, 0xBF, 0xC0, 0xC1, 0xF5, 0xFF}) EXPECT_FALSE(m.accept(bad)) << bad;
  ASSERT_TRUE(m.accept(0xED));
  EXPECT_FALSE(m.accept(0xA0)) << "a surrogate";
  EXPECT_FALSE(m.may_end());
  EXPECT_FALSE(m.accept(v.end)) << "in the middle of a character";
}

// GRM-05: after a complete match only the end may come, and asking again is no error.
TEST(TokenMatcher, GRM_05_ends_only_when_complete_and_only_then) {
  const Vocabulary v({"{}", "{", "}"});
  TokenMatcher m = v.matcher(gbnf("root ::= \"{}\""));
  EXPECT_FALSE(m.accept(v.end));
  ASSERT_TRUE(m.accept('{'));
  EXPECT_FALSE(m.may_end());
  ASSERT_TRUE(m.accept('}'));
  EXPECT_TRUE(m.may_end());
  EXPECT_TRUE(m.must_end());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(allowed(m, v), std::vector<std::string>{"</s>"});
  EXPECT_FALSE(m.accept('}'));
  EXPECT_TRUE(m.accept(v.end));
  EXPECT_TRUE(m.has_ended());
  EXPECT_FALSE(m.accept(v.end));
}

TEST(TokenMatcher, finds_tokens_that_are_forced) {
  const Vocabulary v({"abc", "x", "y", "end"}, false);
  TokenMatcher m = v.matcher(gbnf("root ::= \"abc\" (\"x\" | \"y\") \"end\""));
  EXPECT_EQ(m.forced().value(), v.id("abc"));
  ASSERT_TRUE(m.accept(v.id("abc")));
  EXPECT_EQ(m.forced().value(), std::nullopt);
  ASSERT_TRUE(m.accept(v.id("y")));
  EXPECT_EQ(m.forced().value(), v.id("end"));
  ASSERT_TRUE(m.accept(v.id("end")));
  EXPECT_EQ(m.forced().value(), v.end);
}

TEST(TokenMatcher, a_refused_token_changes_nothing) {
  const Vocabulary v({"ab", "ac"});
  TokenMatcher m = v.matcher(gbnf("root ::= \"ab\" \"ab\""));
  ASSERT_TRUE(m.accept(v.id("ab")));
  EXPECT_FALSE(m.accept(v.id("ac")));
  EXPECT_FALSE(m.accept(-1));
  EXPECT_FALSE(m.accept(1 << 30));
  ASSERT_TRUE(m.accept(v.id("ab")));
  EXPECT_TRUE(m.must_end());
}

TEST(TokenMatcher, a_vocabulary_that_cannot_go_on_is_an_error) {
  const Vocabulary v({"a"}, false);
  TokenMatcher m = v.matcher(gbnf("root ::= \"ab\""));
  ASSERT_TRUE(m.accept(v.id("a")));
  const auto mask = m.mask();
  ASSERT_FALSE(mask.has_value());
  EXPECT_NE(mask.error().message.find("vocabulary"), std::string::npos);
}

TEST(TokenMatcher, ambiguity_is_bounded) {
  const Vocabulary v({"a", "aaaa"});
  // After n letters there are 2^n stacks.
  TokenMatcher m = v.matcher(
      gbnf("root ::= \"a\" root \"x\" | \"a\" s \"y\" | \"b\"\ns ::= \"a\" root \"z\" | \"a\" s \"w\" | \"c\""));
  bool stopped = false;
  for (int i = 0; i < 40 && !stopped; ++i) {
    const auto mask = m.mask();
    stopped = !mask || !m.accept('a');
    if (!mask) {
      EXPECT_NE(mask.error().message.find("ambiguous"), std::string::npos) << mask.error().message;
    }
  }
  EXPECT_TRUE(stopped);
}

TEST(TokenMatcher, nesting_is_bounded_and_can_be_closed_at_the_bound) {
  const Vocabulary v({});
  TokenMatcher m = v.matcher(gbnf("root ::= \"(\" root \")\" | \"\""));
  int depth = 0;
  while (m.accept('(')) ++depth;
  EXPECT_GE(depth, 1000);
  for (int i = 0; i < depth; ++i) ASSERT_TRUE(m.accept(')'));
  EXPECT_TRUE(m.must_end());
  EXPECT_LT(m.memory_bytes(), kMaxMachineBytes * 2);
}

}  // namespace
}  // namespace ridge::grammar
