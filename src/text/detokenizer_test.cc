// The stream of characters against one-shot sanitising, and what is held when.
#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "test_vocabs.h"

namespace ridge {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

TEST(Utf8Stream, any_chunking_gives_what_sanitising_the_whole_gives) {
  std::mt19937 random(3);
  const std::string_view parts[] = {"a",       " ",    "é",    "中",           "🙂",         "\xF0\x9F",
                                    "\xE4",    "\xFF", "\x80", "\xF0\x9F\x98", "\xED\xA0\x80", "\xC0\xAF",
                                    "\xF4\x90"};
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (size_t i = random() % 12; i > 0; --i) bytes += parts[random() % std::size(parts)];
    Utf8Stream stream;
    std::string got;
    for (size_t at = 0; at < bytes.size();) {
      const size_t n = 1 + random() % 5;
      stream.push(std::string_view(bytes).substr(at, n), got);
      ASSERT_TRUE(utf8_is_valid(got));
      ASSERT_LE(stream.n_held(), 3u);
      at += n;
    }
    stream.finish(got);
    ASSERT_EQ(got, utf8_sanitise(bytes));
  }
}

TEST(Utf8Stream, finishing_twice_adds_nothing) {
  Utf8Stream stream;
  std::string out;
  stream.push("\xE4\xB8", out);
  stream.finish(out);
  stream.finish(out);
  EXPECT_EQ(out, kReplacement);
}

TEST(Detokenizer, a_continuation_keeps_its_first_space_and_a_text_of_its_own_does_not) {
  const auto t = Tokenizer::create(testing::spm_vocab()).value();
  const auto ids = t->encode("the cat").value();
  Detokenizer continued(*t), own(*t, {.text_start = true});
  std::string a, b;
  for (const int32_t id : ids) a += continued.push(id), b += own.push(id);
  EXPECT_EQ(a, " the cat");
  EXPECT_EQ(b, "the cat");
}

TEST(Detokenizer, control_tokens_show_only_on_request) {
  const auto t = Tokenizer::create(testing::spm_vocab()).value();
  Detokenizer hidden(*t), shown(*t, {.render_special = true});
  EXPECT_EQ(hidden.push(2), "");
  EXPECT_EQ(shown.push(2), "</s>");
  EXPECT_EQ(hidden.push(-7), "");
  EXPECT_EQ(hidden.push(1 << 30), "");
}

}  // namespace
}  // namespace ridge
