// What a constraint costs: compiling it, and the mask of each token of an answer, on a real vocabulary of 152k tokens.
// Prints its own table; each answer is walked twice, so that first visits and kept masks are both in the figures.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "golden_dir.h"
#include "text/grammar/gbnf.h"
#include "text/grammar/json_gbnf.h"
#include "text/grammar/schema.h"
#include "text/grammar/token_matcher.h"
#include "vocab_reader.h"

namespace {

using namespace ridge;
using namespace ridge::grammar;

struct Case {
  const char* name;
  Result<Grammar> grammar;
  std::string answer;
};

double ms_since(int64_t start) {
  return ms_from_ns(now_ns() - start);
}

void run(const Case& c, const Tokenizer& tokenizer, const std::shared_ptr<const TokenTrie>& trie) {
  if (!c.grammar) {
    std::printf("%-22s %s\n", c.name, c.grammar.error().message.c_str());
    return;
  }
  int64_t start = now_ns();
  const auto automaton = compile(*c.grammar);
  const double compile_ms = ms_since(start);
  if (!automaton) {
    std::printf("%-22s %s\n", c.name, automaton.error().message.c_str());
    return;
  }
  const auto ids = tokenizer.encode(c.answer);
  const auto cache = std::make_shared<MaskCache>(*automaton, trie);
  std::vector<double> us;
  size_t n_forced = 0;
  double first_us = 0;
  for (int round = 0; round < 2; ++round) {
    TokenMatcher m(cache);
    for (const int32_t id : *ids) {
      start = now_ns();
      const auto mask = m.mask();
      us.push_back(ms_since(start) * 1000);
      if (const auto forced = m.forced(); forced && *forced) ++n_forced;
      if (!mask || !m.accept(id)) {
        std::printf("%-22s stopped before '%s'\n", c.name, std::string(tokenizer.piece(id)).c_str());
        return;
      }
    }
    if (round == 0) first_us = *std::max_element(us.begin(), us.end());
  }
  std::sort(us.begin(), us.end());
  std::printf("%-22s %9.2f %8zu %7zu %9.1f %9.1f %9.1f %9.1f %7zu %8.1f\n", c.name, compile_ms,
              (*automaton)->n_states(), us.size(), us[us.size() / 2], us[us.size() * 99 / 100], us.back(), first_us,
              n_forced, static_cast<double>(cache->memory_bytes()) / 1e6);
}

std::string json_answer() {
  std::string s = "{\"people\": [";
  for (int i = 0; i < 12; ++i) {
    if (i > 0) s += ", ";
    s += "{\"name\": \"Person number " + std::to_string(i) +
         " of the list, \xE5\xBC\xA0\xE4\xBC\x9F\", \"age\": " + std::to_string(20 + i) +
         ", \"tags\": [\"alpha\", \"beta \\\"quoted\\\"\", \"a longer piece of text that goes on\"]}";
  }
  return s + "]}";
}

}  // namespace

int main() {
  const auto golden = ridge::testing::golden_dir();
  if (!golden) {
    std::printf("no reference data: set RIDGE_GOLDEN to the folder that holds it\n");
    return 0;
  }
  const auto tokenizer =
      Tokenizer::create(ridge::testing::VocabReader::read(*golden / "tokenizers" / "ggml-vocab-qwen2.gguf"));
  if (!tokenizer) return 1;
  const int64_t start = now_ns();
  const auto trie = std::make_shared<TokenTrie>(**tokenizer);
  std::printf("vocabulary: %d tokens, %u nodes, %.1f MB, built in %.1f ms\n", trie->n_vocab(), trie->n_nodes(),
              static_cast<double>(trie->memory_bytes()) / 1e6, ms_since(start));
  std::printf("%-22s %9s %8s %7s %9s %9s %9s %9s %7s %8s\n", "grammar", "compile", "states", "masks", "median us",
              "p99 us", "worst us", "1st worst", "forced", "cache MB");
  const Case cases[] = {
      {"json (gbnf)", parse_gbnf(grammar::testing::kJsonGbnf), json_answer()},
      {"json (schema)",
       parse_json_schema(
           R"({"type": "object", "properties": {"people": {"type": "array", "items": {"type": "object", "properties": {
               "name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
               "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["name", "age", "tags"]}}},
               "required": ["people"]})"),
       json_answer()},
      {"letters", parse_gbnf("root ::= [a-z ]+"), "the quick brown fox jumps over the lazy dog and runs away"},
      {"any text of 200", parse_gbnf("root ::= .{0,200}"), "the quick brown fox jumps over the lazy dog and runs away"},
      {"choices", choices({"positive", "negative", "neutral"}), "neutral"},
  };
  for (const Case& c : cases) run(c, **tokenizer, trie);
  return 0;
}
