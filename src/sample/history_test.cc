// Samplers that look back: penalties, DRY and mirostat.
#include <cmath>

#include "sample/slow_twin.h"
#include "sample/test_support.h"

namespace ridge::sample {
namespace {

using testing::expect_list;
using testing::Row;

TEST(Penalties, repeat_divides_positive_and_multiplies_negative_logits) {
  std::vector<float> x = {2, -2, 2, 0};
  std::vector<Candidate> room(4);
  Candidates c(x, room);
  Penalties p({.repeat = 4, .window = 8}, 4);
  for (const int t : {0, 1, 3}) p.accept(t);
  p.apply(c);
  EXPECT_EQ(x, (std::vector<float>{0.5f, -8, 2, 0}));
}

TEST(Penalties, frequency_counts_and_presence_does_not) {
  std::vector<float> x = {1, 1, 1};
  std::vector<Candidate> room(3);
  Candidates c(x, room);
  Penalties p({.frequency = 0.5, .presence = 0.25, .window = 8}, 3);
  for (const int t : {0, 0, 0, 1}) p.accept(t);
  p.apply(c);
  EXPECT_EQ(x, (std::vector<float>{-0.75f, 0.25f, 1}));
}

TEST(Penalties, a_list_is_treated_as_the_dense_row_is) {
  std::vector<float> x = {1, 2, 3, 4, 5}, y = x;
  std::vector<Candidate> room(5);
  Candidates dense(x, {}), list(y, room);
  Penalties p({.repeat = 1.5, .frequency = 0.5, .window = 8}, 5);
  for (const int t : {4, 4, 1}) p.accept(t);
  p.apply(dense);
  list.keep_top(5);
  p.apply(list);
  for (const Candidate& k : list.items()) EXPECT_EQ(k.logit, x[static_cast<size_t>(k.id)]);
  EXPECT_FALSE(list.sorted());
}

TEST(Penalties, sliding_counts_equal_a_recount) {
  constexpr size_t kVocab = 11;
  for (const size_t window : {1, 2, 7, 64}) {
    Penalties p({.frequency = 1, .window = window}, kVocab);
    std::vector<int> history;
    for (uint64_t i = 0; i < 300; ++i) {
      history.push_back(static_cast<int>(random_bits(3, window, i) % kVocab));
      p.accept(history.back());
      std::vector<float> x(kVocab, 0), expected(kVocab, 0);
      Candidates c(x, {});
      p.apply(c);
      for (const int t : twin::last(history, static_cast<int>(window))) expected[static_cast<size_t>(t)] -= 1;
      ASSERT_EQ(x, expected) << window << " " << i;
    }
  }
}

// Tokens in, the row of the four or five equal candidates out.
std::vector<float> dry_row(const std::vector<int>& tokens, size_t n, const Dry::Options& options,
                           const std::vector<std::string>& breakers) {
  std::vector<float> x(n, 0);
  Candidates c(x, {});
  Dry dry(options, breakers, testing::letter, n);
  for (const int t : tokens) dry.accept(t);
  dry.apply(c);
  return x;
}

TEST(Dry, penalises_the_token_that_would_continue_a_repeat) {
  const Dry::Options o{.multiplier = 1, .base = 1.1, .allowed_length = 2, .window = 5};
  EXPECT_EQ(dry_row({0, 1}, 4, o, {}), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(dry_row({0, 1, 2, 0, 1}, 4, o, {}), (std::vector<float>{0, 0, -1, 0}));
}

TEST(Dry, grows_by_the_base_with_each_token_beyond_the_allowed_length) {
  const auto x =
      dry_row({0, 1, 2, 3, 4, 0, 1, 2, 3}, 5, {.multiplier = 2, .base = 1.75, .allowed_length = 2, .window = 64}, {});
  EXPECT_FLOAT_EQ(x[4], static_cast<float>(-2 * std::pow(1.75, 2)));
  EXPECT_EQ(x[0], 0);
}

TEST(Dry, no_repeat_reaches_across_a_breaker) {
  const Dry::Options o{.multiplier = 1, .base = 2, .allowed_length = 2, .window = 64};
  // "abcd abc": d continues a repeat of 3; with c's neighbour b as a breaker only "c" is left, too short
  EXPECT_EQ(dry_row({0, 1, 2, 3, 0, 1, 2}, 4, o, {}), (std::vector<float>{0, 0, 0, -2}));
  EXPECT_EQ(dry_row({0, 1, 2, 3, 0, 1, 2}, 4, o, {"a"}), (std::vector<float>{0, 0, 0, -1}));
  EXPECT_EQ(dry_row({0, 1, 2, 3, 0, 1, 2}, 4, o, {"b"}), (std::vector<float>{0, 0, 0, 0}));
}

TEST(Dry, a_breaker_spelled_by_several_tokens_is_found) {
  const Dry::Options o{.multiplier = 1, .base = 2, .allowed_length = 1, .window = 64};
  const std::vector<int> tokens = {0, 0, 1, 2, 3, 0, 0, 1, 2};  // aabcd aabc
  EXPECT_EQ(dry_row(tokens, 4, o, {"aab"})[3], -1) << "only c counts";
  EXPECT_EQ(dry_row(tokens, 4, o, {"abd"})[3], -8) << "a breaker that is not there changes nothing";
}

TEST(Dry, a_zero_byte_after_a_breaker_is_a_byte_like_others) {
  Dry dry(
      {.multiplier = 1, .base = 2, .allowed_length = 1, .window = 64}, std::vector<std::string>{"a"},
      [](int32_t t, std::string& out) { out += static_cast<char>(t == 0 ? 'a' : t - 1); }, 4);
  std::vector<float> x(4, 0);
  Candidates c(x, {});
  for (const int t : {0, 1, 1, 2, 0, 1, 1}) dry.accept(t);  // a \\0 \\0 \\1 a \\0 \\0
  dry.apply(c);
  EXPECT_EQ(x, (std::vector<float>{0, -1, -2, 0}));
}

TEST(Dry, equals_its_slow_twin_on_random_texts) {
  constexpr size_t kVocab = 4;
  for (uint64_t round = 0; round < 3000; ++round) {
    const auto roll = [&](uint64_t draw, uint64_t n) { return random_bits(9, round, 0, draw) % n; };
    SamplingParams p;
    p.dry_multiplier = 0.5;
    p.dry_base = 1.25;
    p.dry_allowed_length = static_cast<int32_t>(roll(0, 4));
    p.dry_penalty_last_n = roll(1, 3) == 0 ? -1 : static_cast<int32_t>(1 + roll(2, 40));
    p.dry_sequence_breakers =
        roll(3, 2) ? std::vector<std::string>{} : std::vector<std::string>{roll(4, 2) ? "d" : "aba", "ddc"};
    std::vector<int> history;
    for (uint64_t i = 0; i < roll(5, 60); ++i)
      history.push_back(static_cast<int>(random_bits(10, round, i) % (2 + round % 3)));
    const size_t window = p.dry_penalty_last_n < 0 ? 100 : static_cast<size_t>(p.dry_penalty_last_n);
    const auto fast =
        dry_row(history, kVocab, {p.dry_multiplier, p.dry_base, static_cast<size_t>(p.dry_allowed_length), window},
                p.dry_sequence_breakers);
    twin::List slow;
    for (int i = 0; i < static_cast<int>(kVocab); ++i) slow.push_back({i, 0});
    twin::dry(slow, history, p, [](int t) {
      std::string s;
      testing::letter(t, s);
      return s;
    });
    for (size_t i = 0; i < kVocab; ++i)
      ASSERT_NEAR(fast[i], slow[i].logit, 1e-4 * (1 + std::abs(slow[i].logit))) << "round " << round << " token " << i;
  }
}

TEST(Dry, a_long_repeat_gives_a_finite_logit) {
  const std::vector<int> tokens(5000, 0);
  const auto x = dry_row(tokens, 2, {.multiplier = 1000, .base = 100, .allowed_length = 2, .window = 5000}, {});
  EXPECT_TRUE(std::isfinite(x[0]));
  EXPECT_LT(x[0], -1e30f);
}

TEST(Mirostat2, cuts_what_surprises_more_than_mu) {
  Row row({0.5, 0.25, 0.125, 0.125});  // 1, 2, 3, 3 bits
  Candidates c = row.candidates();
  const Mirostat m({.version = 2, .tau = 1.05, .n_vocab = 4});  // mu = 2.1
  m.truncate(c);
  expect_list(c, {{0, 2.0 / 3}, {1, 1.0 / 3}});
}

TEST(Mirostat2, keeps_one_when_all_surprise_too_much) {
  Row row({0.25, 0.25, 0.25, 0.25});
  Candidates c = row.candidates();
  Mirostat({.version = 2, .tau = 0.1, .n_vocab = 4}).truncate(c);
  expect_list(c, {{0, 1.0}});
}

TEST(Mirostat, mu_moves_by_the_error_of_the_accepted_draw_only) {
  Mirostat m({.version = 2, .tau = 3, .eta = 0.1, .n_vocab = 4});
  EXPECT_DOUBLE_EQ(m.mu(), 6);
  m.drawn(2, 0.25);  // 2 bits
  m.accept(2);
  EXPECT_DOUBLE_EQ(m.mu(), 6 - 0.1 * (2 - 3));
  m.accept(2);  // a token that was not drawn
  m.drawn(1, 0.5);
  m.accept(3);  // drawn and rejected
  EXPECT_DOUBLE_EQ(m.mu(), 6.1);
  m.reset();
  EXPECT_DOUBLE_EQ(m.mu(), 6);
}

TEST(Mirostat1, cut_follows_the_formula_of_the_paper) {
  // Zipf with exponent 2: p[i] ~ (i+1)^-2, so the estimate of s is exactly 2.
  std::vector<double> p;
  for (int i = 0; i < 1000; ++i) p.push_back(1.0 / ((i + 1.0) * (i + 1.0)));
  Row row(p);
  Candidates c = row.candidates();
  Mirostat({.version = 1, .tau = 4, .n_vocab = 1000}).truncate(c);
  const double k = std::sqrt(1 * std::pow(2, 8) / (1 - 1.0 / 1000));  // 16.008
  EXPECT_EQ(c.items().size(), static_cast<size_t>(k));
}

TEST(Mirostat1, cut_follows_the_formula_where_the_exponent_is_not_two) {
  std::vector<double> p;
  for (int i = 0; i < 500; ++i) p.push_back(std::pow(i + 1.0, -3));
  Row row(p);
  Candidates c = row.candidates();
  Mirostat({.version = 1, .tau = 6, .n_vocab = 500}).truncate(c);
  const double k = std::cbrt(2 * std::pow(2, 12) / (1 - 1.0 / (500.0 * 500)));  // 20.16
  EXPECT_EQ(c.items().size(), static_cast<size_t>(k));
}

TEST(Mirostat1, flat_single_and_steep_rows_leave_at_least_one) {
  for (const std::vector<double>& p :
       {std::vector<double>(50, 0.02), std::vector<double>{1.0}, std::vector<double>{1.0, 1e-37}}) {
    for (const double tau : {0.0, 5.0, 100.0}) {
      Row row(p);
      Candidates c = row.candidates();
      Mirostat({.version = 1, .tau = tau, .n_vocab = p.size()}).truncate(c);
      EXPECT_GE(c.items().size(), 1u);
      EXPECT_LE(c.items().size(), p.size());
    }
  }
}

TEST(Mirostat, surprise_settles_near_tau_in_both_versions) {
  // Zipf with exponent 1 over 5000 tokens: entropy about 9 bits, so a target of 4 is below it and can be held.
  std::vector<float> logits(5000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = -std::log(static_cast<float>(i + 1));
  const double lse = log_sum_exp(logits);
  for (const int version : {1, 2}) {
    SamplingParams p = testing::plain(4);
    p.mirostat = version;
    p.mirostat_tau = 4;
    p.post_sampling_probs = true;
    p.logprobs = true;
    SamplerChain chain = testing::chain_of(p, logits.size());
    double bits = 0;
    for (uint64_t i = 0; i < 2000; ++i) {
      const auto r = chain.sample(logits, 0, i);
      ASSERT_TRUE(r.has_value());
      chain.accept(r->token);
      if (i >= 1000) bits -= *r->logprob / std::log(2.0) / 1000;
    }
    EXPECT_NEAR(bits, 4, 0.25) << "version " << version;
  }
  EXPECT_GT(lse, 0);
}

}  // namespace
}  // namespace ridge::sample
