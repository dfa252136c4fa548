// The whole chain: against its slow twin, its distribution, determinism, mask, reports; and the bug-log rows about
// them.
#include "sample/chain.h"

#include <algorithm>
#include <map>
#include <set>

#include "sample/slow_twin.h"
#include "sample/test_support.h"

namespace ridge::sample {
namespace {

using testing::chain_of;
using testing::plain;
using testing::random_logits;
using testing::token_at;

SamplingParams random_params(uint64_t round) {
  const auto roll = [round](uint64_t d) { return random_uniform(21, round, 0, d); };
  SamplingParams p;
  p.seed = round;
  p.post_sampling_probs = true;
  p.temperature = 0.1 + 2 * roll(0);
  p.top_k = roll(1) < 0.3 ? 0 : static_cast<int32_t>(1 + 60 * roll(2));
  p.top_p = roll(3) < 0.3 ? 1 : roll(4);
  p.min_p = roll(5) < 0.3 ? 0 : 0.3 * roll(6);
  p.typical_p = roll(7) < 0.6 ? 1 : roll(8);
  p.top_n_sigma = roll(9) < 0.6 ? -1 : 3 * roll(10);
  p.xtc_probability = roll(11) < 0.5 ? 0 : roll(12);
  p.xtc_threshold = 0.2 * roll(13);
  p.repeat_penalty = roll(14) < 0.5 ? 1 : 0.8 + roll(15);
  p.frequency_penalty = roll(16) < 0.5 ? 0 : roll(17);
  p.presence_penalty = roll(18) < 0.5 ? 0 : roll(19) - 0.5;
  p.repeat_last_n = static_cast<int32_t>(40 * roll(20)) - 1;
  p.dry_multiplier = roll(21) < 0.5 ? 0 : roll(22);
  p.dynatemp_range = roll(23) < 0.7 ? 0 : roll(24);
  p.dynatemp_exponent = 0.5 + roll(25);
  p.min_keep = roll(26) < 0.7 ? 0 : static_cast<int32_t>(5 * roll(27));
  if (roll(28) < 0.3) p.logit_bias = {{3, 5.0f}, {4, -INFINITY}, {3, 1.0f}};
  for (size_t i = p.samplers.size() - 1; i > 0 && roll(29) < 0.5; --i) {  // half of the rounds in another order
    std::swap(p.samplers[i], p.samplers[static_cast<size_t>(roll(30 + i) * static_cast<double>(i + 1))]);
  }
  return p;
}

TEST(SamplerChain, equals_its_slow_twin_for_random_parameters_in_any_order) {
  size_t n_compared = 0;
  for (uint64_t round = 0; round < 4000; ++round) {
    const size_t n = 1 + random_bits(22, round, 1) % (round % 8 == 0 ? 1024 : 60);
    SamplingParams p = random_params(round);
    if (n < 5) p.logit_bias.clear();
    p.n_probs = static_cast<int32_t>(n);
    const auto logits = random_logits(n, round);
    SamplerChain chain = chain_of(p, n);
    std::vector<int> history;
    for (uint64_t i = 0; i < random_bits(23, round, 0) % 60; ++i) {
      history.push_back(static_cast<int>(random_bits(24, round, i) % std::min<size_t>(n, 5)));
      chain.accept(history.back());
    }
    const auto text = [](int t) {
      std::string s;
      testing::letter(t, s);
      return s;
    };
    const auto slow = twin::chain(logits, p, history, text, random_uniform(*p.seed, 3, 9, 1));
    const auto fast = chain.sample(logits, 3, 9);
    ASSERT_TRUE(fast.has_value()) << fast.error().message;
    // A cut that falls within float rounding could take one candidate more or less; in these rounds none does.
    ASSERT_EQ(fast->top.size(), slow.size()) << "round " << round << ": " << describe_chain(p);
    for (size_t i = 0; i < slow.size(); ++i) {
      ASSERT_NEAR(std::exp(fast->top[i].logprob), slow[i].p, 2e-4) << "round " << round << " place " << i;
    }
    ++n_compared;
  }
  EXPECT_EQ(n_compared, 4000u);
}

// Chi-square of 100,000 draws against the expected distribution.
double chi_square(SamplerChain& chain, const std::vector<float>& logits, const twin::List& expected, uint64_t n_draws) {
  std::map<int, double> counts;
  for (uint64_t i = 0; i < n_draws; ++i) counts[token_at(chain, logits, i)] += 1;
  double chi = 0, inside = 0;
  for (const twin::Item& x : expected) {
    const double mean = x.p * static_cast<double>(n_draws);
    chi += (counts[x.id] - mean) * (counts[x.id] - mean) / mean;
    inside += counts[x.id];
  }
  EXPECT_EQ(inside, static_cast<double>(n_draws)) << "a token outside the distribution was drawn";
  return chi;
}

TEST(SamplerChain, frequencies_match_the_softmax_and_the_default_chain) {
  const auto logits = random_logits(50, 8, 1.0);
  for (const bool defaults : {false, true}) {
    SamplingParams p = defaults ? SamplingParams{} : plain();
    p.seed = 1234;
    SamplerChain chain = chain_of(p, logits.size());
    const auto expected = twin::chain(
        logits, p, {}, [](int) { return std::string(); }, 1);
    const double df = static_cast<double>(expected.size() - 1);
    ASSERT_GT(df, 5);
    // mean df, deviation sqrt(2 df); five deviations happen once in a million seeds, and the seed is fixed
    EXPECT_LT(chi_square(chain, logits, expected, 100000), df + 5 * std::sqrt(2 * df)) << defaults;
  }
}

TEST(SamplerChain, sequences_and_draws_are_independent_streams) {
  std::vector<float> logits(2, 0.0f);
  SamplerChain chain = chain_of(plain(5), 2);
  int same = 0;
  for (uint64_t i = 0; i < 10000; ++i) same += token_at(chain, logits, i, 0) == token_at(chain, logits, i, 1);
  EXPECT_NEAR(same, 5000, 250);
}

TEST(SamplerChain, xtc_rolls_its_own_draw_with_the_given_probability) {
  SamplingParams p = plain(6);
  p.xtc_probability = 0.3;
  std::vector<float> logits = {0.0f, 0.0f};  // cut to token 1 in 30 %: token 0 in half of 70 %
  SamplerChain chain = chain_of(p, 2);
  int zero = 0;
  for (uint64_t i = 0; i < 100000; ++i) zero += token_at(chain, logits, i) == 0;
  EXPECT_NEAR(zero, 35000, 5 * std::sqrt(100000 * 0.35 * 0.65));
}

TEST(SamplerChain, same_arguments_give_the_same_token_in_any_order_of_calls) {
  const auto logits = random_logits(2000, 2);
  for (const int mirostat : {0, 1, 2}) {
    SamplingParams p;
    p.seed = 99;
    p.mirostat = mirostat;
    SamplerChain forward = chain_of(p, logits.size()), backward = chain_of(p, logits.size());
    std::vector<int> a, b;
    for (uint64_t i = 0; i < 200; ++i) a.push_back(token_at(forward, logits, i, 7));
    for (uint64_t i = 200; i-- > 0;) b.push_back(token_at(backward, logits, i, 7));
    std::reverse(b.begin(), b.end());
    EXPECT_EQ(a, b) << mirostat;
  }
}

TEST(SamplerChain, chains_may_share_their_scratch) {
  const auto logits = random_logits(3000, 2);
  SamplingParams p;
  p.seed = 3;
  auto scratch = SamplerScratch::create(3000);
  ASSERT_TRUE(scratch.has_value());
  const VocabFacts facts{.n_vocab = 3000, .n_ctx = 100, .scratch = *scratch};
  auto a = SamplerChain::create(p, facts), b = SamplerChain::create(p, facts);
  ASSERT_TRUE(a.has_value() && b.has_value());
  SamplerChain alone = chain_of(p, 3000);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(token_at(*a, logits, i, 0), token_at(alone, logits, i, 0));
    EXPECT_EQ(token_at(*b, logits, i, 1), token_at(alone, logits, i, 1));
  }
  EXPECT_FALSE(SamplerChain::create(p, {.n_vocab = 3001, .n_ctx = 100, .scratch = *scratch}).has_value());
}

TEST(SamplerChain, what_the_mask_forbids_never_comes_and_the_rest_keeps_its_shares) {
  const auto logits = random_logits(70, 8, 1.0);
  std::vector<uint32_t> allowed = {0x00ff00ffu, 0u, 0x3u};  // 0-7, 16-23, 64, 65
  SamplingParams p = plain(11);
  SamplerChain chain = chain_of(p, 70);
  std::vector<int> counts(70, 0);
  for (uint64_t i = 0; i < 20000; ++i) ++counts[static_cast<size_t>(chain.sample(logits, 0, i, allowed)->token)];
  double sum = 0;
  for (size_t i = 0; i < 70; ++i) sum += (allowed[i / 32] >> (i % 32) & 1u) ? std::exp(logits[i]) : 0;
  for (size_t i = 0; i < 70; ++i) {
    const double share = (allowed[i / 32] >> (i % 32) & 1u) ? std::exp(logits[i]) / sum : 0;
    EXPECT_NEAR(counts[i], 20000 * share, 5 * std::sqrt(20000 * share)) << i;
  }
}

TEST(SamplerChain, a_mask_beats_bias_greedy_and_mirostat_and_an_empty_one_is_an_error) {
  std::vector<float> logits = {9, 1, 2, 3};
  for (int mode = 0; mode < 4; ++mode) {
    SamplingParams p = plain();
    if (mode == 1) p.temperature = 0;
    if (mode > 1) p.mirostat = mode - 1;
    p.logit_bias = {{0, 100.0f}};
    SamplerChain chain = chain_of(p, 4);
    const uint32_t only_two = 1u << 2, none = 0;
    EXPECT_EQ(chain.sample(logits, 0, 0, std::span(&only_two, 1))->token, 2);
    const auto r = chain.sample(logits, 0, 0, std::span(&none, 1));
    ASSERT_FALSE(r.has_value());
    EXPECT_NE(r.error().message.find("no token"), std::string::npos);
  }
  SamplerChain chain = chain_of(plain(), 4);
  EXPECT_FALSE(chain_of(plain(), 40).sample(std::vector<float>(40), 0, 0, std::vector<uint32_t>(1)).has_value())
      << "mask too short";
  EXPECT_FALSE(chain.sample(std::vector<float>(5), 0, 0).has_value()) << "row of another length";
}

TEST(SamplerChain, ignore_eos_and_bias_ban_and_force) {
  std::vector<float> logits = {5, 1, 1, 9};
  const std::vector<int32_t> end = {3, 0};
  SamplingParams p = plain();
  p.ignore_eos = true;
  auto chain = SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8, .end_tokens = end});
  ASSERT_TRUE(chain.has_value());
  for (uint64_t i = 0; i < 500; ++i) {
    const int t = token_at(*chain, logits, i);
    EXPECT_TRUE(t == 1 || t == 2);
  }
  p.logit_bias = {{2, 100.0f}};
  chain = SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8, .end_tokens = end});
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(token_at(*chain, logits, i), 2);
}

TEST(SamplerChain, greedy_is_the_best_whatever_truncates) {
  SamplingParams p = plain();
  p.temperature = 0;
  p.xtc_probability = 1;
  p.typical_p = 0.1;
  p.dynatemp_range = 1;
  const std::vector<float> logits = {std::log(0.4f), std::log(0.2f), std::log(0.2f), std::log(0.2f)};
  SamplerChain chain = chain_of(p, 4);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(token_at(chain, logits, i), 0);
}

TEST(SamplerChain, create_refuses_what_it_cannot_do) {
  SamplingParams p;
  EXPECT_NE(SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8}).error().message.find("seed"), std::string::npos);
  p.seed = 1;
  EXPECT_TRUE(SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8}).has_value());
  EXPECT_FALSE(SamplerChain::create(p, {.n_vocab = 0, .n_ctx = 8}).has_value());
  EXPECT_FALSE(SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 0}).has_value());
  const std::vector<int32_t> end = {4};
  EXPECT_FALSE(SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8, .end_tokens = end}).has_value());
  p.dry_multiplier = 1;
  EXPECT_NE(SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8}).error().message.find("dry"), std::string::npos);
  p.repeat_last_n = 2147483647;  // bounded by the context, not allocated
  p.dry_penalty_last_n = 2147483647;
  p.repeat_penalty = 1.1;
  EXPECT_TRUE(SamplerChain::create(p, {.n_vocab = 4, .n_ctx = 8, .token_text = testing::letter}).has_value());
}

TEST(SamplerChain, accept_ignores_ids_outside_the_vocabulary_and_reset_forgets) {
  SamplingParams p = plain();
  p.temperature = 0;
  p.presence_penalty = 5;
  SamplerChain chain = chain_of(p, 3);
  const std::vector<float> logits = {3, 2, 1};
  for (const int32_t t : {-1, 3, 2147483647, -2147483647 - 1}) chain.accept(t);
  EXPECT_EQ(token_at(chain, logits, 0), 0);
  chain.accept(0);
  EXPECT_EQ(token_at(chain, logits, 0), 1);
  chain.reset();
  EXPECT_EQ(token_at(chain, logits, 0), 0);
}

TEST(Logprobs, equal_a_double_log_softmax) {
  for (const size_t n : {1, 5, 1023, 1024, 151936}) {
    const auto x = random_logits(n, n, 12);
    long double sum = 0;
    for (const float v : x) sum += std::exp(static_cast<long double>(v));
    EXPECT_NEAR(log_sum_exp(x), static_cast<double>(std::log(sum)), 2e-6) << n;
  }
}

TEST(Logprobs, are_of_the_raw_logits_and_sorted) {
  const auto logits = random_logits(300, 4);
  SamplingParams p;
  p.seed = 1;
  p.temperature = 0.1;
  p.n_probs = 20;
  p.logit_bias = {{7, 100.0f}};
  SamplerChain chain = chain_of(p, 300);
  const auto r = chain.sample(logits, 0, 0);
  ASSERT_TRUE(r.has_value());
  const double lse = log_sum_exp(logits);
  EXPECT_EQ(r->token, 7);
  EXPECT_FLOAT_EQ(*r->logprob, static_cast<float>(logits[7] - lse));
  ASSERT_EQ(r->top.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_FLOAT_EQ(r->top[i].logprob, static_cast<float>(logits[static_cast<size_t>(r->top[i].token)] - lse));
    if (i > 0) {
      EXPECT_LE(r->top[i].logprob, r->top[i - 1].logprob);
    }
  }
  p.n_probs = 0;
  EXPECT_FALSE(chain_of(p, 300).sample(logits, 0, 0)->logprob.has_value());
  p.logprobs = true;
  EXPECT_TRUE(chain_of(p, 300).sample(logits, 0, 0)->logprob.has_value());
}

TEST(Buglog, SMP_01_top_k_0_is_off) {
  const auto logits = random_logits(1000, 12);
  SamplingParams p;
  p.top_k = 0;
  p.min_p = 0.02;
  p.temperature = 1.19;
  std::set<int> tokens;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    p.seed = seed;
    SamplerChain chain = chain_of(p, logits.size());
    tokens.insert(token_at(chain, logits, 0));
  }
  EXPECT_GT(tokens.size(), 3u);
}

TEST(Buglog, SMP_02_only_the_last_n_tokens_count) {
  const std::vector<float> logits(300, 1.0f);
  const auto penalised = [&](int32_t last_n) {
    SamplingParams p = plain();
    p.repeat_last_n = last_n;
    p.presence_penalty = 1;
    p.post_sampling_probs = true;
    p.n_probs = 300;
    SamplerChain chain = chain_of(p, 300);
    for (int t = 0; t < 200; ++t) chain.accept(t);
    const auto r = chain.sample(logits, 0, 0);
    std::vector<int> found;
    for (const TokenLogprob& t : r->top) {
      if (t.logprob < r->top[0].logprob - 0.5f) found.push_back(t.token);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto sixty_four = penalised(64);
  ASSERT_EQ(sixty_four.size(), 64u);
  EXPECT_EQ(sixty_four.front(), 136);
  EXPECT_EQ(sixty_four.back(), 199);
  EXPECT_EQ(penalised(1000).size(), 200u);
  EXPECT_EQ(penalised(0).size(), 0u);
  EXPECT_EQ(penalised(-1).size(), 200u);
}

TEST(Buglog, SMP_03_frequency_penalty_reduces_repeats_over_the_whole_completion) {
  std::vector<float> logits(2000, 0.0f);
  for (size_t i = 0; i < 5; ++i) logits[i] = 8.0f;  // a model that loops over five tokens
  const auto repeats = [&](double penalty) {
    SamplingParams p = plain(3);
    p.frequency_penalty = penalty;
    p.repeat_last_n = -1;
    SamplerChain chain = chain_of(p, logits.size());
    std::set<int> seen;
    int n = 0;
    for (uint64_t i = 0; i < 300; ++i) {
      const int t = token_at(chain, logits, i);
      n += !seen.insert(t).second;
      chain.accept(t);
    }
    return n;
  };
  EXPECT_GT(repeats(0), 250);
  EXPECT_LT(repeats(2), repeats(0) / 2);
}

TEST(Buglog, SMP_05_seed_decides) {
  const auto logits = random_logits(1000, 3);
  const auto text = [&](uint64_t seed) {
    SamplingParams p;
    p.seed = seed;
    p.temperature = 0.7;
    SamplerChain chain = chain_of(p, logits.size());
    EXPECT_EQ(chain.params().seed, seed);
    std::vector<int> out;
    for (uint64_t i = 0; i < 100; ++i) out.push_back(token_at(chain, logits, i));
    return out;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(text(42), text(42));
  std::set<std::vector<int>> different;
  for (uint64_t seed = 42; seed < 47; ++seed) different.insert(text(seed));
  EXPECT_EQ(different.size(), 5u);
}

TEST(Buglog, SMP_07_greedy_and_top_k_1_take_the_lowest_id_among_equals) {
  for (const size_t n : {5, 2000}) {
    for (size_t n_ties = 2; n_ties <= 4; ++n_ties) {
      std::vector<float> logits = random_logits(n, 1, 0.1);
      for (size_t i = 0; i < n_ties; ++i) logits[n - 1 - i] = 7.0f;
      for (uint64_t seed = 0; seed<1000; seed += n> 100 ? 50 : 1) {
        SamplingParams greedy, top1;
        greedy.seed = top1.seed = seed;
        greedy.temperature = 0;
        top1.top_k = 1;
        SamplerChain a = chain_of(greedy, n), b = chain_of(top1, n);
        EXPECT_EQ(token_at(a, logits, seed), static_cast<int>(n - n_ties));
        EXPECT_EQ(token_at(b, logits, seed), static_cast<int>(n - n_ties));
      }
    }
  }
}

TEST(Buglog, SMP_20_SMP_22_logprobs_are_finite_and_never_above_zero) {
  std::vector<float> logits = random_logits(500, 9, 20);
  for (size_t i = 0; i < 490; ++i) logits[i] = -INFINITY;
  const std::vector<uint32_t> one_only = [] {
    std::vector<uint32_t> m(16, 0);
    m[15] = 1u << 19;
    return m;
  }();  // token 499
  for (const bool post : {false, true}) {
    SamplingParams p;
    p.seed = 1;
    p.temperature = 0.01;
    p.n_probs = 20;
    p.post_sampling_probs = post;
    SamplerChain chain = chain_of(p, 500);
    for (const bool masked : {false, true}) {
      const auto r =
          chain.sample(logits, 0, 0, masked ? std::span<const uint32_t>(one_only) : std::span<const uint32_t>());
      ASSERT_TRUE(r.has_value());
      double sum = 0;
      for (const TokenLogprob& t : r->top) {
        EXPECT_TRUE(std::isfinite(t.logprob));
        EXPECT_LE(t.logprob, 0);
        sum += std::exp(t.logprob);
      }
      EXPECT_LE(sum, 1 + 1e-5);
      EXPECT_TRUE(std::isfinite(*r->logprob) && *r->logprob <= 0);
    }
  }
}

TEST(Buglog, SMP_25_broken_logits_are_an_error_and_never_sampled) {
  for (const float bad : {NAN, -NAN, static_cast<float>(INFINITY)}) {
    for (const size_t at : {0, 63, 499}) {
      for (const double t : {0.0, 0.8}) {
        auto logits = random_logits(500, 9);
        logits[at] = bad;
        SamplingParams p;
        p.seed = 1;
        p.temperature = t;
        const auto r = chain_of(p, 500).sample(logits, 0, 0);
        ASSERT_FALSE(r.has_value());
        EXPECT_EQ(r.error().code, ErrorCode::internal);
        EXPECT_NE(r.error().message.find(fmt::format("token {}", at)), std::string::npos) << r.error().message;
      }
    }
  }
  EXPECT_FALSE(chain_of(plain(), 10).sample(std::vector<float>(10, -INFINITY), 0, 0).has_value());
}

TEST(Buglog, SMP_26_temperature_0_and_top_k_1_give_the_same_tokens) {
  for (uint64_t prompt = 0; prompt < 50; ++prompt) {
    SamplingParams greedy, top1;
    greedy.seed = top1.seed = prompt;
    greedy.temperature = 0;
    top1.top_k = 1;
    greedy.repeat_penalty = top1.repeat_penalty = 1.1;
    SamplerChain a = chain_of(greedy, 3000), b = chain_of(top1, 3000);
    for (uint64_t i = 0; i < 128; ++i) {
      const auto logits = random_logits(3000, prompt * 1000 + i % 4);
      const int ta = token_at(a, logits, i), tb = token_at(b, logits, i);
      ASSERT_EQ(ta, tb);
      a.accept(ta);
      b.accept(tb);
    }
  }
}

}  // namespace
}  // namespace ridge::sample
