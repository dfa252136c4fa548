// The matcher against a twin that looks at every end position, over random chunkings.
#include "text/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace ridge {
namespace {

StopMatcher make(const std::vector<std::string>& stops) {
  return StopMatcher::create(stops).value();
}

// What is shown, by definition: the text before the stop that is complete first; of those complete there, the longest.
std::pair<std::string, int> cut_slowly(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    int best = -1;
    for (size_t i = 0; i < stops.size(); ++i) {
      const std::string& s = stops[i];
      if (s.size() > end || text.compare(end - s.size(), s.size(), s) != 0) continue;
      if (best < 0 || s.size() > stops[static_cast<size_t>(best)].size()) best = static_cast<int>(i);
    }
    if (best >= 0) return {text.substr(0, end - stops[static_cast<size_t>(best)].size()), best};
  }
  return {text, -1};
}

TEST(StopMatcher, any_chunking_gives_what_the_definition_gives) {
  std::mt19937 random(5);
  const auto word = [&](size_t longest) {
    std::string s(1 + random() % longest, 'a');
    for (char& c : s) c = static_cast<char>('a' + random() % 2);
    return s;
  };
  int n_stopped = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = random() % 4; n > 0; --n) stops.push_back(word(7));
    const std::string text = word(40);
    const auto [want, want_stop] = cut_slowly(text, stops);
    auto m = make(stops);
    std::string got;
    int stopped = -1;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random() % 6;
      const auto step = m.push(std::string_view(text).substr(at, n));
      got += step.text;
      if (step.stopped >= 0) stopped = step.stopped;
      at += n;
    }
    got += m.finish();
    ASSERT_EQ(got, want);
    ASSERT_EQ(stopped < 0, want_stop < 0);
    ASSERT_TRUE(stopped < 0 || stops[static_cast<size_t>(stopped)] == stops[static_cast<size_t>(want_stop)]);
    n_stopped += stopped >= 0;
  }
  EXPECT_GT(n_stopped, 1000);
}

TEST(StopMatcher, refuses_what_is_over_the_limits_and_takes_what_is_at_them) {
  const auto error = [](const std::vector<std::string>& stops) {
    const auto m = StopMatcher::create(stops);
    return m ? std::string() : m.error().message;
  };
  EXPECT_EQ(error(std::vector<std::string>(16, std::string(256, 'x'))), "");
  EXPECT_NE(error(std::vector<std::string>(17, "x")), "");
  EXPECT_NE(error({std::string(257, 'x')}), "");
  EXPECT_NE(error({"ok", ""}).find("stop[1]"), std::string::npos);
  EXPECT_NE(error({"\xFF"}), "");
}

TEST(StopMatcher, without_stops_everything_passes_at_once) {
  auto m = make({});
  EXPECT_EQ(m.push("abc").text, "abc");
  EXPECT_EQ(m.n_held_bytes(), 0u);
  EXPECT_EQ(m.finish(), "");
}

TEST(StopMatcher, what_is_held_never_cuts_a_character) {
  auto m = make({"é!"});
  EXPECT_EQ(m.push("aé").text, "a");
  EXPECT_EQ(m.push("中").text, "é中");
}

}  // namespace
}  // namespace ridge
