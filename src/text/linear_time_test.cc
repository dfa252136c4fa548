// Four times the text may take about four times as long, not sixteen: on runs that make backtracking engines and naive
// merging quadratic. Compared is processor time of this thread, the least of two, so a busy machine does not matter.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <set>

#include "test_vocabs.h"
#include "text/nfc.h"
#include "text/pretokenizer.h"
#include "text/stop_matcher.h"
#include "text/tokenizer.h"

namespace ridge {
namespace {

constexpr size_t kSmallBytes = size_t{1} << 16;

struct Pathology {
  const char* name;
  std::string unit;
};

const std::vector<Pathology>& runs() {
  static const std::vector<Pathology> all = {
      {"one letter", "a"},
      {"capitals", "A"},
      {"alternating case", "aA"},
      {"spaces", " "},
      {"newlines", "\n"},
      {"spaces and newlines", " \n "},
      {"digits", "7"},
      {"combining marks", "\xCC\x81"},
      {"unordered combining marks", "\xCC\x81\xCC\xA3"},
      {"Han", "中"},
      {"Hangul jamo", "\xE1\x84\x80\xE1\x85\xA1"},
      {"titlecase letters", "ǅ"},
      {"apostrophes", "'"},
      {"half a marker", "<|im_"},
      {"stray bytes", "\xE4\xB8"},
      {"sentinels", "<sentinel:1"},
      {"letters and spaces", "a "},
      {"punctuation", "!/"},
  };
  return all;
}

std::string repeat(const std::string& unit, size_t n_bytes) {
  std::string text;
  while (text.size() < n_bytes) text += unit;
  return text;
}

template <class F>
double seconds(F f) {
  double least = 1e9;
  for (int i = 0; i < 2; ++i) {
    timespec a{}, b{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    f();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    least =
        std::min(least, static_cast<double>(b.tv_sec - a.tv_sec) + static_cast<double>(b.tv_nsec - a.tv_nsec) * 1e-9);
  }
  return least;
}

// f takes a text. 9 lies between 4 (linear; 4.5 for n log n) and 16 (quadratic); below 10 ms nothing is judged.
template <class F>
void expect_linear(const std::string& what, const std::string& unit, F f) {
  const std::string small = repeat(unit, kSmallBytes), large = repeat(unit, kSmallBytes * 4);
  double large_s = seconds([&] { f(large); });
  if (large_s < 0.01) return;
  double small_s = seconds([&] { f(small); });
  // A busy machine disturbs a measurement now and then; what is quadratic is so every time.
  for (int again = 0; again < 5 && large_s >= small_s * 9; ++again) {
    large_s = seconds([&] { f(large); });
    small_s = seconds([&] { f(small); });
  }
  EXPECT_LT(large_s, small_s * 9) << what << ": " << small_s << " s for 64 KiB, " << large_s << " s for 256 KiB";
}

TEST(LinearTime, every_pre_tokeniser_on_every_run) {
  std::set<const text::SplitStage*> seen;
  for (const auto& pre : text::pretokenizers()) {
    if (!seen.insert(pre.stages.data()).second) continue;  // many names share a splitter
    for (const Pathology& run : runs()) {
      expect_linear(std::string(pre.name) + " on " + run.name, run.unit, [&](const std::string& text) {
        std::vector<uint32_t> ends, spare;
        text::split_words(pre, text, ends, spare);
        ASSERT_EQ(ends.back(), text.size());
      });
    }
  }
}

TEST(LinearTime, every_kind_of_tokeniser_on_every_run) {
  for (const auto& v :
       {testing::byte_level_vocab(), testing::spm_vocab(), testing::gemma_vocab(), testing::wordpiece_vocab()}) {
    const auto t = Tokenizer::create(v).value();
    for (const Pathology& run : runs()) {
      expect_linear(std::string(v.model) + " on " + run.name, run.unit,
                    [&](const std::string& text) { ASSERT_TRUE(t->encode(text, {.parse_special = true})); });
    }
  }
}

TEST(LinearTime, normalisation_on_every_run) {
  for (const Pathology& run : runs()) {
    expect_linear(std::string("NFC of ") + run.name, run.unit,
                  [&](const std::string& text) { ASSERT_FALSE(text::nfc(text).empty()); });
  }
}

TEST(LinearTime, stop_strings_on_their_own_prefixes) {
  const std::vector<std::string> stops = {std::string(255, 'a') + "b", "aab", "ab" + std::string(200, 'a') + "c"};
  for (const Pathology& run : runs()) {
    expect_linear(std::string("stops on ") + run.name, run.unit, [&](const std::string& text) {
      auto m = StopMatcher::create(stops).value();
      for (size_t at = 0; at < text.size(); at += 7) m.push(std::string_view(text).substr(at, 7));
    });
  }
}

}  // namespace
}  // namespace ridge
