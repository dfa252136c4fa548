// The hand-written splitters against the published expressions (tests/golden/pretokenizers.jsonl, made by
// tools/make_pretokenizer_cases.py with a regular-expression engine), and against themselves on very long runs.
#include "text/pretokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace ridge::text {
namespace {

std::vector<std::string> words_of(const PreTokenizer& pre, std::string_view text) {
  std::vector<uint32_t> ends, spare;
  split_words(pre, text, ends, spare);
  std::vector<std::string> words;
  size_t at = 0;
  for (const uint32_t end : ends) {
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

TEST(PreTokenizer, every_splitter_cuts_as_its_published_expression_does) {
  const char* other = std::getenv("RIDGE_PRETOKENIZER_CASES");
  std::ifstream in(other != nullptr ? other : RIDGE_SOURCE_DIR "/tests/golden/pretokenizers.jsonl");
  ASSERT_TRUE(in) << "tests/golden/pretokenizers.jsonl is missing";
  int n = 0, n_wrong = 0;
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    const std::string name = j["pre"], text = j["text"];
    const auto pre = find_pretokenizer(name);
    ASSERT_TRUE(pre) << pre.error().message;
    names.insert(name);
    ++n;
    const auto got = words_of(**pre, text);
    if (got == j["words"].get<std::vector<std::string>>()) continue;
    if (++n_wrong > 20) continue;
    ADD_FAILURE() << name << ": " << nlohmann::json(text).dump() << "\n got  "
                  << nlohmann::json(got).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n want "
                  << j["words"].dump();
  }
  EXPECT_EQ(n_wrong, 0) << "of " << n;
  EXPECT_GE(names.size(), 25u);
}

}  // namespace
}  // namespace ridge::text
