// Percentiles, floors and intervals against exact arithmetic, printed tables and simulated coverage.
#include "account/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace ridge {
namespace {

std::vector<double> one_to(size_t n) {
  std::vector<double> v(n);
  std::iota(v.begin(), v.end(), 1.0);
  return v;
}

TEST(Statistics, percentile_is_an_observed_sample_of_the_nearest_rank) {
  const std::vector<double> five = {15, 20, 35, 40, 50};
  EXPECT_EQ(nearest_rank(five, 0.05), 15);
  EXPECT_EQ(nearest_rank(five, 0.30), 20);
  EXPECT_EQ(nearest_rank(five, 0.40), 20);
  EXPECT_EQ(nearest_rank(five, 0.50), 35);
  EXPECT_EQ(nearest_rank(five, 1.00), 50);
}

TEST(Statistics, rank_agrees_with_integer_arithmetic_for_every_percent_and_size) {
  for (size_t n = 1; n <= 400; ++n) {
    const std::vector<double> v = one_to(n);
    for (size_t percent = 1; percent <= 100; ++percent) {
      const size_t rank = (percent * n + 99) / 100;  // ceil, exactly
      ASSERT_EQ(nearest_rank(v, static_cast<double>(percent) / 100.0), static_cast<double>(rank))
          << "p" << percent << " of " << n;
    }
  }
}

TEST(Statistics, floors_are_those_of_the_early_stopping_table) {
  EXPECT_EQ(samples_needed(0.50), 11u);
  EXPECT_EQ(samples_needed(0.75), 24u);
  EXPECT_EQ(samples_needed(0.90), 64u);
  EXPECT_EQ(samples_needed(0.95), 130u);
  EXPECT_EQ(samples_needed(0.97), 219u);
  EXPECT_EQ(samples_needed(0.99), 662u);
  EXPECT_EQ(samples_needed(0.999), 6636u);
  EXPECT_EQ(samples_needed(1.0), 1u);
  EXPECT_EQ(samples_needed(0.10), samples_needed(0.90));
}

TEST(Statistics, percentile_of_too_few_samples_is_null_and_says_how_many_it_takes) {
  const Percentile below = percentile(one_to(661), 0.99);
  EXPECT_FALSE(below.value);
  EXPECT_EQ(below.n, 661u);
  EXPECT_EQ(below.need_n, 662u);
  const Percentile at = percentile(one_to(662), 0.99);
  ASSERT_TRUE(at.value);
  EXPECT_EQ(*at.value, 656);  // ceil(655.38)
  EXPECT_FALSE(percentile({}, 0.5).value);
}

TEST(Statistics, median_interval_has_the_ranks_of_the_binomial_table) {
  // n: rank of the lower end at 95 %, as printed in tables of the sign test.
  const std::pair<size_t, size_t> table[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}};
  for (const auto& [n, rank] : table) {
    const auto ci = median_interval(one_to(n));
    ASSERT_TRUE(ci) << n;
    EXPECT_EQ(ci->lower, static_cast<double>(rank)) << n;
    EXPECT_EQ(ci->upper, static_cast<double>(n + 1 - rank)) << n;
  }
  for (size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_interval(one_to(n))) << n;
  EXPECT_TRUE(median_interval(one_to(5), 0.90));
}

TEST(Statistics, median_interval_of_very_many_samples_neither_underflows_nor_widens) {
  const auto ci = median_interval(one_to(100001));
  ASSERT_TRUE(ci);
  // Normal approximation: 50001 -+ 1.96 * sqrt(100001) / 2 = 310.
  EXPECT_NEAR(ci->lower, 50001 - 310, 3);
  EXPECT_NEAR(ci->upper, 50001 + 310, 3);
}

TEST(Statistics, median_interval_covers_the_true_median_as_often_as_it_claims) {
  std::mt19937 random(7);
  std::exponential_distribution<double> skewed(1.0);
  int n_covered = 0;
  constexpr int kTrials = 4000;
  for (int t = 0; t < kTrials; ++t) {
    std::vector<double> v(12);
    for (double& x : v) x = skewed(random);
    const auto ci = median_interval(sorted_samples(v));
    n_covered += ci && ci->lower <= std::log(2.0) && std::log(2.0) <= ci->upper;
  }
  // Exact coverage at n = 12 is 96.1 %.
  EXPECT_NEAR(static_cast<double>(n_covered) / kTrials, 0.961, 0.012);
}

TEST(Statistics, summary_gives_mean_median_spread_and_extremes) {
  const auto s = summarise(std::vector<double>{4, 2, 8, 6});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->n, 4u);
  EXPECT_DOUBLE_EQ(s->mean, 5);
  EXPECT_EQ(s->median, 4);
  EXPECT_EQ(s->min, 2);
  EXPECT_EQ(s->max, 8);
  ASSERT_TRUE(s->stdev);
  EXPECT_NEAR(*s->stdev, std::sqrt(20.0 / 3.0), 1e-12);
  EXPECT_FALSE(s->median_95);
  EXPECT_FALSE(summarise(std::vector<double>{}));
  EXPECT_FALSE(summarise(std::vector<double>{3})->stdev);
}

TEST(Statistics, spread_of_large_close_values_does_not_cancel) {
  const auto s = summarise(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3});
  ASSERT_TRUE(s && s->stdev);
  EXPECT_NEAR(*s->stdev, 1.0, 1e-6);
}

}  // namespace
}  // namespace ridge
