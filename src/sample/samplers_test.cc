// The stateless samplers on examples computed by hand, at their edges, dense and as lists.
#include "sample/samplers.h"

#include "sample/test_support.h"

namespace ridge::sample {
namespace {

using testing::expect_list;
using testing::Row;

const std::vector<double> kFour = {0.1, 0.2, 0.3, 0.4};

TEST(TopK, keeps_the_k_most_likely_in_order) {
  Row row(kFour);
  Candidates c = row.candidates();
  top_k(c, 2);
  expect_list(c, {{3, 4.0 / 7}, {2, 3.0 / 7}});
}

TEST(TopK, zero_negative_and_more_than_all_keep_all) {
  for (const int k : {0, -1, 4, 1000000}) {
    Row row(kFour);
    Candidates c = row.candidates();
    top_k(c, k);
    EXPECT_EQ(testing::final_list(c).size(), 4u) << k;
  }
}

TEST(SelectTop, equals_a_full_sort_on_random_equal_rising_and_falling_rows) {
  for (const size_t n : {1, 63, 64, 65, 1000, 5000, 20000}) {
    for (int shape = 0; shape < 5; ++shape) {
      std::vector<float> x = testing::random_logits(n, 5);
      if (shape == 1) std::fill(x.begin(), x.end(), 1.5f);
      if (shape == 2) std::sort(x.begin(), x.end());
      if (shape == 3) std::sort(x.rbegin(), x.rend());
      if (shape == 4)
        for (float& v : x) v = std::round(v);  // many ties
      std::vector<Candidate> all;
      for (size_t i = 0; i < n; ++i) all.push_back({static_cast<int32_t>(i), x[i], 0});
      std::sort(all.begin(), all.end(), MoreLikely{});
      for (const size_t k : {1, 2, 40, 300, 4999}) {
        std::vector<Candidate> room(select_top_room(n, k));
        const size_t found = select_top(x, k, room);
        ASSERT_EQ(found, std::min(n, k));
        for (size_t i = 0; i < found; ++i)
          ASSERT_EQ(room[i].id, all[i].id) << n << " " << shape << " " << k << " " << i;
      }
    }
  }
}

TEST(SelectTop, banned_tokens_are_no_candidates) {
  std::vector<float> x(3000, -INFINITY);
  x[7] = 1;
  x[2900] = 2;
  std::vector<Candidate> room(select_top_room(x.size(), 40));
  ASSERT_EQ(select_top(x, 40, room), 2u);
  EXPECT_EQ(room[0].id, 2900);
  EXPECT_EQ(room[1].id, 7);
}

TEST(TopP, keeps_the_fewest_that_reach_p) {
  Row row(kFour);
  Candidates c = row.candidates();
  top_p(c, 0.8, 0);
  expect_list(c, {{3, 0.4 / 0.9}, {2, 0.3 / 0.9}, {1, 0.2 / 0.9}});
}

TEST(TopP, zero_keeps_one_and_min_keep_keeps_more) {
  Row a(kFour), b(kFour);
  Candidates c = a.candidates(), d = b.candidates();
  top_p(c, 0, 0);
  expect_list(c, {{3, 1.0}});
  top_p(d, 0, 2);
  expect_list(d, {{3, 4.0 / 7}, {2, 3.0 / 7}});
}

TEST(MinP, keeps_what_is_at_least_p_of_the_best) {
  const std::vector<std::pair<double, size_t>> cases = {{0.0, 4},  {0.24, 4}, {0.26, 3}, {0.49, 3},
                                                        {0.51, 2}, {0.74, 2}, {0.76, 1}, {1.0, 1}};
  for (const auto& [p, n] : cases) {
    Row dense(kFour), list(kFour);
    Candidates c = dense.candidates(), d = list.candidates();
    min_p(c, p, 0);
    d.materialise();
    min_p(d, p, 0);
    EXPECT_EQ(testing::final_list(c).size(), n) << p;
    EXPECT_EQ(testing::final_list(c), testing::final_list(d)) << p;
  }
}

TEST(MinP, min_keep_leaves_the_most_likely_beyond_the_limit) {
  Row row(kFour);
  Candidates c = row.candidates();
  min_p(c, 1.0, 3);
  expect_list(c, {{3, 0.4 / 0.9}, {2, 0.3 / 0.9}, {1, 0.2 / 0.9}});
}

TEST(Typical, keeps_the_expected_surprise_and_may_drop_the_best) {
  Row a({0.97, 0.01, 0.01, 0.01}), b({0.4, 0.2, 0.2, 0.2});
  Candidates c = a.candidates(), d = b.candidates();
  typical(c, 0.5, 0);
  expect_list(c, {{0, 1.0}});
  typical(d, 0.5, 0);
  expect_list(d, {{1, 1.0 / 3}, {2, 1.0 / 3}, {3, 1.0 / 3}});
}

TEST(TopNSigma, keeps_logits_within_n_deviations_of_the_best) {
  Row a(kFour), b(kFour), off(kFour);
  Candidates c = a.candidates(), d = b.candidates(), e = off.candidates();
  top_n_sigma(c, 1);
  expect_list(c, {{2, 3.0 / 7}, {3, 4.0 / 7}});
  d.materialise();
  top_n_sigma(d, 1);
  expect_list(d, {{2, 3.0 / 7}, {3, 4.0 / 7}});
  top_n_sigma(e, 0);
  EXPECT_EQ(testing::final_list(e).size(), 4u);
}

TEST(Xtc, removes_all_top_choices_but_the_least_likely_of_them) {
  const std::vector<double> p = {0.4, 0.3, 0.2, 0.1};
  const auto run = [&](double probability, double threshold, size_t min_keep, double chance) {
    Row row(p);
    Candidates c = row.candidates();
    xtc(c, probability, threshold, min_keep, chance);
    std::vector<int> ids;
    for (const auto& [id, prob] : testing::final_list(c)) ids.push_back(id);
    return ids;
  };
  EXPECT_EQ(run(0.99, 0.09, 0, 0.5), (std::vector<int>{3}));
  EXPECT_EQ(run(0.99, 0.19, 0, 0.5), (std::vector<int>{2, 3}));
  EXPECT_EQ(run(0.99, 0.29, 0, 0.5), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(run(0.99, 0.39, 0, 0.5), (std::vector<int>{0, 1, 2, 3})) << "one top choice is no choice to exclude";
  EXPECT_EQ(run(0.99, 0.51, 0, 0.5).size(), 4u) << "off above 0.5";
  EXPECT_EQ(run(0.4, 0.09, 0, 0.5).size(), 4u) << "the roll said no";
  EXPECT_EQ(run(0.0, 0.09, 0, 0.0).size(), 4u) << "probability 0 is never";
  EXPECT_EQ(run(1.0, 0.09, 0, 0.999999).size(), 1u) << "probability 1 is always";
  EXPECT_EQ(run(0.99, 0.09, 2, 0.5).size(), 4u) << "fewer than min_keep would stay";
}

TEST(Temperature, divides_logits_and_zero_takes_the_best) {
  Row a({0.1, 0.2, 0.7}), b({0.1, 0.2, 0.7});
  Candidates c = a.candidates(), d = b.candidates();
  temperature(c, 0.5);  // squares the probabilities
  expect_list(c, {{0, 0.01 / 0.54}, {1, 0.04 / 0.54}, {2, 0.49 / 0.54}});
  temperature(d, 0);
  expect_list(d, {{2, 1.0}});
}

TEST(Temperature, extremes_stay_finite) {
  for (const double t : {1e-300, 1e-30, 1e-4, 100.0}) {
    std::vector<float> x = {-3e38f, 0.0f, 3e38f, 2.9e38f};
    std::vector<Candidate> room(4);
    Candidates c(x, room);
    temperature(c, t);
    c.softmax();
    double sum = 0;
    for (const Candidate& k : c.items()) sum += k.p;
    EXPECT_NEAR(sum, 1, 1e-6) << t;
    EXPECT_NEAR(c.items()[2].p, 1, 1e-6) << t;
  }
}

TEST(DynamicTemperature, equal_candidates_get_the_highest_and_a_sure_one_the_lowest_temperature) {
  Row flat({0.25, 0.25, 0.25, 0.25}), one({1.0});
  Candidates c = flat.candidates(), d = one.candidates();
  dynamic_temperature(c, 1, 0.5, 1);
  EXPECT_NEAR(c.items()[0].logit, std::log(0.25) / 1.5, 1e-5);
  dynamic_temperature(d, 1, 0.5, 1);
  expect_list(d, {{0, 1.0}});
}

TEST(DynamicTemperature, follows_the_normalised_entropy_to_its_exponent) {
  Row row({0.5, 0.5, 1e-30, 1e-30});  // entropy ln 2 of at most ln 4: one half
  Candidates c = row.candidates();
  dynamic_temperature(c, 1, 0.5, 2);  // 0.5 + 1.0 * 0.5^2
  EXPECT_NEAR(c.items()[0].logit, std::log(0.5) / 0.75, 1e-4);
}

TEST(Samplers, one_candidate_survives_everything) {
  std::vector<float> x = {-INFINITY, 2.0f, -INFINITY};
  std::vector<Candidate> room(3);
  Candidates c(x, room);
  top_n_sigma(c, 1);
  top_k(c, 40);
  typical(c, 0.1, 0);
  top_p(c, 0.1, 0);
  min_p(c, 1, 5);
  xtc(c, 1, 0.1, 0, 0);
  dynamic_temperature(c, 0.8, 0.5, 1);
  expect_list(c, {{1, 1.0}});
}

TEST(Samplers, equal_logits_go_by_id) {
  std::vector<float> x(100, 0.25f);
  std::vector<Candidate> room(100);
  Candidates c(x, room);
  top_p(c, 0.0999, 0);
  const auto list = testing::final_list(c);
  ASSERT_EQ(list.size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(list[static_cast<size_t>(i)].first, i);
}

}  // namespace
}  // namespace ridge::sample
