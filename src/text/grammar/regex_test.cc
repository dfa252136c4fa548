// Regular expressions: what they match, what is refused and where.
#include "text/grammar/regex.h"

#include "text/grammar/grammar_test_util.h"

namespace ridge::grammar {
namespace {

using testing::accepts;

std::shared_ptr<const Automaton> regex(const char* pattern, Anchoring anchoring = Anchoring::whole) {
  Grammar g;
  const auto body = regex_expr(g, pattern, anchoring);
  EXPECT_TRUE(body.has_value()) << pattern << ": " << (body ? "" : body.error().message);
  if (!body) return nullptr;
  g.root = g.anonymous("regex", *body);
  return testing::automaton_of(g);
}

TEST(Regex, matches_whole_texts) {
  struct Case {
    const char *pattern, *good, *bad;
  };
  const Case cases[] = {
      {"abc", "abc", "ab"},
      {"^abc$", "abc", "abcd"},
      {"a|bc|", "", "b"},
      {"(ab)+", "abab", "aba"},
      {"(?:a|b){2,3}", "aba", "a"},
      {"(?<year>\\d{4})-(?P<month>\\d\\d)", "2024-05", "2024-5"},
      {"a*?b+?c??", "aab", "c"},
      {"[^a-c\\d]", "d", "5"},
      {"[\\w.-]+", "a_b.c-d", "a b"},
      {"\\x41\\u0042\\u{43}\\.\\/\\-", "ABC./-", "ABC"},
      {".", "\xE4\xB8\xAD", "\n"},
      {"\\s\\S", " x", "x "},
      {"\\D\\W", "a!", "1!"},
      {"x{", "x{", "x"},
      {"x{a}", "x{a}", "xa"},
      {"^(.*)$", "anything", "a\nb"},
      {"(^a|b)(c|d$)", "ad", "a"},
      {"a{0}", "", "a"},
  };
  for (const Case& c : cases) {
    const auto a = regex(c.pattern);
    EXPECT_TRUE(accepts(a, c.good)) << c.pattern;
    EXPECT_FALSE(accepts(a, c.bad)) << c.pattern;
  }
}

TEST(Regex, a_search_is_free_where_nothing_anchors_it) {
  EXPECT_TRUE(accepts(regex("b", Anchoring::search), "a\nbc"));
  EXPECT_FALSE(accepts(regex("b", Anchoring::search), "ac"));
  EXPECT_TRUE(accepts(regex("^b", Anchoring::search), "bc"));
  EXPECT_FALSE(accepts(regex("^b", Anchoring::search), "ab"));
  EXPECT_TRUE(accepts(regex("b$", Anchoring::search), "ab"));
  EXPECT_FALSE(accepts(regex("b$", Anchoring::search), "ba"));
  EXPECT_TRUE(accepts(regex("^a|b$", Anchoring::search), "ax"));
  EXPECT_TRUE(accepts(regex("^a|b$", Anchoring::search), "xb"));
  EXPECT_FALSE(accepts(regex("^a|b$", Anchoring::search), "xbx"));
  EXPECT_TRUE(accepts(regex("(^a|b)c", Anchoring::search), "xbcx"));
  EXPECT_FALSE(accepts(regex("(^a|b)c", Anchoring::search), "xac"));
  EXPECT_TRUE(accepts(regex("^$", Anchoring::search), ""));
  EXPECT_FALSE(accepts(regex("^$", Anchoring::search), "a"));
  EXPECT_TRUE(accepts(regex("", Anchoring::search), "anything"));
}

// GRM-23 (vLLM #17313, #19270): an invalid expression is an error with its place.
TEST(Regex, GRM_23_what_is_invalid_or_beyond_a_finite_automaton_is_refused_with_its_position) {
  const std::pair<const char*, const char*> cases[] = {
      {"[", "position 0"},
      {"(", "position 0"},
      {"a(b", "position 1"},
      {"a)", "position 1"},
      {"*a", "position 0"},
      {"a|*", "position 2"},
      {"a{2,1}", "position 1"},
      {"(a)\\1", "back-reference"},
      {"a(?=b)", "look-around"},
      {"(?!a)b", "look-around"},
      {"(?<=a)b", "look-around"},
      {"(?<!a)b", "look-around"},
      {"\\bword", "border"},
      {"a++", "possessive"},
      {"a**", "needs a group"},
      {"a{2}{3}", "needs a group"},
      {"(?i)a", "not supported"},
      {"(?>a)", "not supported"},
      {"\\p{L}", "not supported"},
      {"[z-a]", "range"},
      {"[\\d-z]", "range"},
      {"[]", "no character"},
      {"\\", "at the end"},
      {"\\x4", "hexadecimal"},
      {"\\u{110000}", "escape"},
      {"\\ud800", "no character"},
      {"a^b", "'^'"},
      {"a$b", "'$'"},
      {"(?<a", "name"},
      {"^*", "anchor"},
      {"\xFF", "UTF-8"},
      {"[[:alpha:]]", "POSIX"},
      {"\\012", "octal"},
      {"\\q", "not supported"},
      {"{2}", "nothing in front"},
      {"?", "nothing in front"},
      {"(a^b)*", "'^'"},
      {"a{999999999}", "repetitions"},
  };
  for (const auto& [pattern, said] : cases) {
    Grammar g;
    const auto body = regex_expr(g, pattern, Anchoring::whole);
    ASSERT_FALSE(body.has_value()) << pattern;
    EXPECT_NE(body.error().message.find(said), std::string::npos) << pattern << ": " << body.error().message;
  }
}

// GRM-24 (vLLM #37642).
TEST(Regex, GRM_24_two_expressions_one_after_the_other) {
  EXPECT_TRUE(accepts(regex("^(.*)$"), "x"));
  const auto a = regex("^(|.*)$");
  EXPECT_TRUE(accepts(a, ""));
  EXPECT_TRUE(accepts(a, "x"));
}

TEST(Regex, hostile_expressions_are_bounded) {
  const auto error = [](const std::string& pattern) {
    const auto g = parse_regex(pattern);
    if (!g) return g.error().message;
    const auto a = compile(*g);
    return a ? std::string() : a.error().message;
  };
  EXPECT_NE(error("(a|b)*a(a|b){40}").find("too large"), std::string::npos);
  EXPECT_NE(error("((a{1000}){1000}){1000}").find("too large"), std::string::npos);
  EXPECT_EQ(error("(a+)+b"), "");  // the classic of backtracking engines
  EXPECT_EQ(error("(a|a)*b"), "");
  EXPECT_NE(error(std::string(8000, '(')).find("nest"), std::string::npos);
  EXPECT_NE(error(std::string(20'000, 'a')).find("at most"), std::string::npos);
}

}  // namespace
}  // namespace ridge::grammar
