// Lists and ranges as llama-bench reads them, and the rows that they make.
#include "bench/axes.h"

#include <gtest/gtest.h>

namespace ridge::bench {
namespace {

std::vector<int> numbers(std::string_view text) {
  std::vector<int> out;
  const auto done = add_numbers(text, 0, 100000, out);
  EXPECT_TRUE(done) << text;
  return out;
}

TEST(Axes, lists_and_ranges_give_their_values) {
  using V = std::vector<int>;
  EXPECT_EQ(numbers("512"), V({512}));
  EXPECT_EQ(numbers("1,2,4"), V({1, 2, 4}));
  EXPECT_EQ(numbers("3-6"), V({3, 4, 5, 6}));
  EXPECT_EQ(numbers("10-50+20"), V({10, 30, 50}));
  EXPECT_EQ(numbers("1-64*4"), V({1, 4, 16, 64}));
  EXPECT_EQ(numbers("0,7-8,1-3*3"), V({0, 7, 8, 1, 3}));
}

TEST(Axes, what_is_no_list_is_refused_with_the_piece_named) {
  for (const char* bad : {"", ",", "a", "1,", "-1", "5-1", "1-4*1", "0-4*2", "1-4+0", "1-", "1-4+", "1 2", "1e3",
                          "1-4^2", "99999999999", "100001"}) {
    std::vector<int> out;
    const auto done = add_numbers(bad, 0, 100000, out);
    ASSERT_FALSE(done) << bad;
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument) << bad;
  }
  std::vector<int> out;
  EXPECT_EQ(add_numbers("1-1001", 0, 100000, out).error().code, ErrorCode::limit);
  out.clear();
  EXPECT_TRUE(add_numbers("1-1000", 0, 100000, out));
  EXPECT_EQ(out.size(), 1000u);
}

TEST(Axes, pairs_words_and_switches) {
  std::vector<std::pair<int, int>> pairs;
  EXPECT_TRUE(add_pair("512,128", 1000, pairs));
  EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{{512, 128}}));
  for (const char* bad : {"512", "512,", "0,1", "1,0", "1,2,3", "1001,1", ",1", ""})
    EXPECT_FALSE(add_pair(bad, 1000, pairs)) << bad;
  std::vector<std::string> words;
  EXPECT_TRUE(add_words("f16,q8_0", words));
  EXPECT_EQ(words, (std::vector<std::string>{"f16", "q8_0"}));
  EXPECT_FALSE(add_words("f16,,q8_0", words));
  std::vector<int> fa;
  EXPECT_TRUE(add_flash_attn("0,1,auto,on,off", fa));
  EXPECT_EQ(fa, (std::vector<int>{0, 1, -1, 1, 0}));
  EXPECT_FALSE(add_flash_attn("2", fa));
}

TEST(Plan, defaults_are_those_of_llama_bench) {
  Axes a;
  a.models = {"m.gguf"};
  const auto cases = plan(a);
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_EQ((*cases)[0].test(), "pp512");
  EXPECT_EQ((*cases)[1].test(), "tg128");
  EXPECT_EQ((*cases)[0].n_batch, 2048);
  EXPECT_EQ((*cases)[0].n_ubatch, 512);
  EXPECT_EQ((*cases)[0].type_k, "f16");
}

TEST(Plan, is_the_product_of_all_axes_with_models_outermost) {
  Axes a;
  a.models = {"a", "b"};
  a.n_prompt = {16, 0}, a.n_gen = {0}, a.prompt_gen = {{8, 4}};
  a.n_threads = {1, 2}, a.n_depth = {0, 32}, a.type_k = {"f16", "q8_0"};
  const auto cases = plan(a);
  ASSERT_TRUE(cases);
  EXPECT_EQ(cases->size(), 2u * 2 * 2 * 2 * 2);
  int n_changes = 0;
  for (size_t i = 1; i < cases->size(); ++i) {
    n_changes += (*cases)[i].model != (*cases)[i - 1].model || (*cases)[i].n_threads != (*cases)[i - 1].n_threads;
  }
  EXPECT_EQ(n_changes, 3) << "a model is opened once for each number of threads";
  EXPECT_EQ((*cases)[1].test(), "pp8+tg4");
  EXPECT_EQ((*cases)[2].test(), "pp16 @ d32");
}

TEST(Plan, of_nothing_or_of_too_much_is_refused) {
  Axes none;
  none.models = {"m"}, none.n_prompt = {0}, none.n_gen = {0};
  EXPECT_EQ(plan(none).error().code, ErrorCode::invalid_argument);
  Axes many;
  many.models = {"m"};
  many.n_prompt.assign(1000, 1), many.n_depth.assign(5, 0), many.n_gen = {0};
  EXPECT_EQ(plan(many).error().code, ErrorCode::limit);
}

}  // namespace
}  // namespace ridge::bench
