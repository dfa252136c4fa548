// GBNF: what it accepts, what its texts match, and that every error has a place.
#include "text/grammar/gbnf.h"

#include "text/grammar/grammar_test_util.h"
#include "text/grammar/limits.h"

namespace ridge::grammar {
namespace {

using testing::accepts;
using testing::gbnf;
using testing::gbnf_error;

TEST(Gbnf, matches_llama_cpp_s_json_grammar) {
  const auto a = gbnf(testing::kJsonGbnf);
  for (const char* good : {"{}", "{\"a\":1}", "{\"a\": [1, 2.5e3, true, null, \"x\\n\\u00e9\"], \"b\":{}}", "{ }\n  "})
    EXPECT_TRUE(accepts(a, good)) << good;
  for (const char* bad : {"", "[]", "{\"a\":}", "{\"a\":01}", "{\"a\":1", "{\"a\":\"\n\"}", "{}x"})
    EXPECT_FALSE(accepts(a, bad)) << bad;
}

TEST(Gbnf, reads_every_construct) {
  struct Case {
    const char *grammar, *good, *bad;
  };
  const Case cases[] = {
      {"root ::= \"ab\"", "ab", "a"},
      {"root::=\"a\"|\"b\"", "b", "ab"},
      {"root ::= [a-c]+", "abccba", "abd"},
      {"root ::= [^a-c]", "d", "b"},
      {"root ::= [-a]", "-", "b"},
      {"root ::= [a-]", "-", "b"},
      {"root ::= [\\]\\[\\\\]+", "][\\", "a"},
      {"root ::= .", "\xE4\xB8\xAD", "ab"},
      {"root ::= \"\\x41\\u4e2d\\U0001F600\"", "A\xE4\xB8\xAD\xF0\x9F\x98\x80", "A"},
      {"root ::= \"\\xe9\"", "\xC3\xA9", "\xE9"},  // \x is a code point, not a byte
      {"root ::= \"ab\"*", "abab", "aba"},
      {"root ::= \"a\"{3}", "aaa", "aa"},
      {"root ::= \"a\"{2,}", "aaaa", "a"},
      {"root ::= \"a\"{1,2}", "aa", "aaa"},
      {"root ::= \"a\"{0}", "", "a"},
      {"root ::= \"a\"?*", "aaa", "b"},
      {"root ::= (\"a\" |\n \"b\"\n) \"c\"", "bc", "c"},
      {"root ::= \"a\" |\n  \"b\"", "b", "c"},
      {"root ::=\n  \"a\" # a comment | \"x\"\n# more\n\nother ::= \"b\"", "a", "x"},
      {"a ::= \"x\" b\nroot ::= a \"!\"\nb ::= \"y\" | ", "xy!", "xy"},
      {"root ::= list-1\nlist-1 ::= \"(\" list-1 \")\" | \"\"", "((()))", "(()"},
      {"root ::= \"\\\"\\n\\t\\r\"\r\nx ::= \"a\"\r\n", "\"\n\t\r", "a"},
      {"root ::= \"a\" root | \"b\"", "aaab", "aaa"},
      {"root ::= ", "", "a"},
  };
  for (const Case& c : cases) {
    const auto a = gbnf(c.grammar);
    EXPECT_TRUE(accepts(a, c.good)) << c.grammar;
    EXPECT_FALSE(accepts(a, c.bad)) << c.grammar;
  }
}

TEST(Gbnf, says_where_it_stops_understanding) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty"},
      {"   # only a comment", "empty"},
      {"root", "line 1, column 5"},
      {"root ::= \"a", "line 1, column 10"},
      {"root ::= [a", "line 1, column 10"},
      {"root ::= []", "no character is in"},
      {"root ::= [z-a]", "range"},
      {"root ::= (\"a\"", "expected ')'"},
      {"root ::= \"a\")", "expected the end of the line"},
      {"root ::= *", "nothing in front"},
      {"root ::= \"a\"{", "expected a number"},
      {"root ::= \"a\"{,3}", "expected a number"},
      {"root ::= \"a\"{3,2}", "below the first"},
      {"root ::= \"a\"{1", "expected '}'"},
      {"root ::= \"a\"{999999999999}", "repetitions"},
      {"root ::= \"\\q\"", "unknown escape"},
      {"root ::= \"\\x4\"", "hexadecimal"},
      {"root ::= \"\\ud800\"", "no character"},
      {"root ::= \"\\U00110000\"", "no character"},
      {"root ::= \"a\"\n\nroot ::= \"b\"", "line 3, column 1: rule 'root' is defined twice"},
      {"root ::= x\n", "line 1, column 10: rule 'x' is used here and never defined"},
      {"root ::= a_b", "expected the end of the line"},
      {"root ::= <think>", "tokens"},
      {"root ::= \xFF", "UTF-8"},
      {"root ::= \"\xC3\"", "UTF-8"},
      {"root ::= root \"a\" | \"b\"", "left-recursive"},
      {"root ::= x\nx ::= y? x \"a\" | \"b\"\ny ::= \"q\"", "left-recursive"},
      {"root ::= a\na ::= b \"x\" | \"1\"\nb ::= a | \"2\"", "left-recursive"},
      {"root ::= \"a\" root", "no text of finite length"},
  };
  for (const auto& [grammar, said] : cases) {
    const std::string error = gbnf_error(grammar);
    EXPECT_NE(error.find(said), error.npos) << grammar << "\n" << error;
  }
}

// GRM-06 (llama.cpp #3878): a rule named Root is not root.
TEST(Gbnf, GRM_06_a_missing_root_is_an_error_with_a_place) {
  const std::string error = gbnf_error("Root ::= \"a\"");
  EXPECT_NE(error.find("line 1, column 1"), error.npos) << error;
  EXPECT_NE(error.find("root"), error.npos) << error;
}

// GRM-08 (llama.cpp #26600, #26602): nesting and chains of rules are refused above a limit of at least 1000, not by a
// stack that overflows.
TEST(Gbnf, GRM_08_deep_groups_and_chains_end_in_an_answer) {
  const auto nested = [](size_t n) { return "root ::= " + std::string(n, '(') + "\"x\"" + std::string(n, ')'); };
  EXPECT_TRUE(accepts(gbnf(nested(100)), "x"));
  EXPECT_TRUE(accepts(gbnf(nested(static_cast<size_t>(kMaxNesting))), "x"));
  EXPECT_NE(gbnf_error(nested(static_cast<size_t>(kMaxNesting) + 1)).find("nest"), std::string::npos);
  EXPECT_NE(gbnf_error(nested(500'000)).find("nest"), std::string::npos);
  std::string chain = "root ::= r0\n";
  for (int i = 0; i < 5000; ++i) chain += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + "\n";
  EXPECT_TRUE(accepts(gbnf(chain + "r5000 ::= \"x\""), "x"));
  EXPECT_NE(gbnf_error(chain + "r5000 ::= r0 | \"x\"").find("left-recursive"), std::string::npos);
}

TEST(Gbnf, hostile_grammars_are_refused_within_the_budget) {
  std::string doubling = "root ::= r0\n";
  for (int i = 0; i < 60; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    doubling += "r" + std::to_string(i) + " ::= " + next + " " + next + "\n";
  }
  doubling += "r60 ::= \"x\"\n";
  EXPECT_EQ(gbnf_error(doubling), "");  // shared, not written out
  EXPECT_NE(gbnf_error("root ::= ((((\"a\"{1000}){1000}){1000}){1000}){1000}").find("too large"), std::string::npos);
  EXPECT_NE(gbnf_error("root ::= [ab]* \"a\" [ab]{30}").find("too large"), std::string::npos);
  std::string wide = "root ::= \"a\"";
  for (int i = 0; i < 30'000; ++i) wide += "|\"" + std::to_string(i * 7919) + "\"";
  EXPECT_EQ(gbnf_error(wide), "");
  EXPECT_NE(gbnf_error(std::string(kMaxSourceBytes + 1, ' ')).find("at most"), std::string::npos);
  std::string rules = "root ::= \"a\"\n";
  for (size_t i = 0; i <= kMaxRules; ++i) rules += "r" + std::to_string(i) + " ::= \"a\"\n";
  EXPECT_NE(gbnf_error(rules).find("rules"), std::string::npos);
}

TEST(Choices, match_exactly_what_is_listed) {
  const auto g = choices({"yes", "no", "yes, but", "\xE4\xB8\xAD"});
  ASSERT_TRUE(g.has_value());
  const auto a = testing::automaton_of(*g);
  for (const char* good : {"yes", "no", "yes, but", "\xE4\xB8\xAD"}) EXPECT_TRUE(accepts(a, good));
  for (const char* bad : {"", "ye", "nope", "yes,"}) EXPECT_FALSE(accepts(a, bad));
  EXPECT_FALSE(choices({}).has_value());
  EXPECT_FALSE(choices({"\xFF"}).has_value());
  EXPECT_FALSE(choices({std::string(kMaxSourceBytes, 'a')}).has_value());
}

}  // namespace
}  // namespace ridge::grammar
