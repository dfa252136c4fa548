// Perplexity and divergence where the answer is known without a model: a uniform one, one that is certain, two that are
// the same, two that differ by a known amount.
#include "quality/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace ridge::quality {
namespace {

class MadeUp final : public LogitsSource {
 public:
  using Logit = std::function<float(int32_t token_now, int32_t candidate)>;
  MadeUp(int32_t n_vocab, int32_t most, Logit logit) : n_vocab_(n_vocab), most_(most), logit_(std::move(logit)) {}
  int32_t n_vocab() const override { return n_vocab_; }
  int32_t max_rows(bool want) const override { return want ? most_ : 3 * most_; }
  Result<void> start(std::span<const int32_t> tokens) override {
    tokens_ = tokens, pos_ = 0, ++n_starts;
    return {};
  }
  Result<MatrixView<const float>> advance(int32_t n, bool want) override {
    EXPECT_LE(n, max_rows(want));
    values_.clear();
    for (int32_t i = 0; i < n; ++i, ++pos_) {
      for (int32_t v = 0; want && v < n_vocab_; ++v) values_.push_back(logit_(tokens_[static_cast<size_t>(pos_)], v));
    }
    return MatrixView<const float>{values_.data(), want ? n : 0, n_vocab_, n_vocab_};
  }
  int n_starts = 0;

 private:
  int32_t n_vocab_, most_, pos_ = 0;
  Logit logit_;
  std::span<const int32_t> tokens_;
  std::vector<float> values_;
};

std::vector<int32_t> counting(size_t n, int32_t n_vocab) {
  std::vector<int32_t> tokens(n);
  for (size_t i = 0; i < n; ++i) tokens[i] = static_cast<int32_t>(i) % n_vocab;
  return tokens;
}

Result<NllSums> run(LogitsSource& source, const std::vector<int32_t>& tokens, const ChunkOptions& o) {
  ScoreOptions options;
  RIDGE_TRY(options.chunks, plan_chunks(tokens.size(), o));
  NllSums sums;
  LogitsSource* sources[] = {&source};
  RIDGE_CHECK_OK(score(tokens, options, sources, [&](int32_t token, auto rows) {
    sums.add(log_sum_exp(rows[0]) - rows[0][static_cast<size_t>(token)]);
  }));
  return sums;
}

TEST(Perplexity, of_a_uniform_model_is_the_size_of_its_vocabulary) {
  MadeUp uniform(50, 7, [](int32_t, int32_t) { return 3.0f; });
  const auto sums = run(uniform, counting(200, 50), {.n_ctx = 32});
  ASSERT_TRUE(sums);
  EXPECT_NEAR(sums->perplexity().value, 50, 1e-4);
  EXPECT_NEAR(sums->perplexity().error, 0, 1e-4);
  EXPECT_EQ(sums->n(), 6 * 15);
  EXPECT_EQ(uniform.n_starts, 6);
}

TEST(Perplexity, of_a_model_that_knows_what_comes_is_one) {
  MadeUp sure(50, 5, [](int32_t now, int32_t v) { return v == (now + 1) % 50 ? 60.0f : 0.0f; });
  const auto sums = run(sure, counting(200, 50), {.n_ctx = 32});
  ASSERT_TRUE(sums);
  EXPECT_NEAR(sums->perplexity().value, 1, 1e-6);
}

TEST(Perplexity, its_uncertainty_is_that_of_a_mean) {
  NllSums sums;
  const double values[] = {1, 2, 3, 4};
  for (const double v : values) sums.add(v);
  EXPECT_NEAR(sums.perplexity().value, std::exp(2.5), 1e-9);
  EXPECT_NEAR(sums.perplexity().error, std::exp(2.5) * std::sqrt(1.25 / 3), 1e-9);
}

TEST(Chunks, lie_side_by_side_and_score_their_second_halves) {
  const auto chunks = plan_chunks(1100, {.n_ctx = 512});
  ASSERT_TRUE(chunks);
  ASSERT_EQ(chunks->size(), 2u);
  EXPECT_EQ((*chunks)[1].start, 512u);
  EXPECT_EQ((*chunks)[1].first, 256);
  EXPECT_EQ(plan_chunks(5120, {.n_ctx = 512, .n_chunks = 3})->size(), 3u);
  EXPECT_EQ(plan_chunks(5120, {.n_ctx = 512})->size(), 10u);
}

TEST(Chunks, with_a_stride_every_token_behind_the_first_context_is_scored_once) {
  const auto chunks = plan_chunks(64, {.n_ctx = 16, .stride = 4});
  ASSERT_TRUE(chunks);
  std::vector<int> scored(64);
  for (const Chunk& c : *chunks) {
    for (int32_t r = c.first; r < c.n - 1; ++r) ++scored[c.start + static_cast<size_t>(r) + 1];
  }
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(scored[i], i < 12 ? 0 : 1) << i;
}

TEST(Chunks, too_little_text_and_odd_numbers_are_refused) {
  EXPECT_TRUE(plan_chunks(1024, {.n_ctx = 512}));
  for (const auto& refused :
       {plan_chunks(1023, {.n_ctx = 512}), plan_chunks(100, {.n_ctx = 7}),
        plan_chunks(100, {.n_ctx = 16, .stride = 16}), plan_chunks(100, {.n_ctx = 16, .n_chunks = 0})}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Score, the_first_token_is_the_begin_token_where_there_is_one) {
  std::vector<int32_t> seen;
  MadeUp source(50, 100, [](int32_t now, int32_t v) { return v == 0 ? static_cast<float>(now) : 0.0f; });
  const auto tokens = counting(64, 50);
  LogitsSource* sources[] = {&source};
  ScoreOptions options{.chunks = {{.start = 32, .n = 32, .first = 0}}, .bos = 49, .on_chunk = {}};
  int n = 0;
  ASSERT_TRUE(score(tokens, options, sources, [&](int32_t token, auto rows) {
    EXPECT_TRUE(n > 0 || rows[0][0] == 49);
    EXPECT_EQ(token, tokens[static_cast<size_t>(33 + n++)]);
  }));
  EXPECT_EQ(n, 31);
  options.on_chunk = [](size_t) { return false; };
  EXPECT_EQ(score(tokens, options, sources, [](int32_t, auto) {}).error().code, ErrorCode::cancelled);
}

Divergence compare(LogitsSource& q, LogitsSource& base) {
  const auto tokens = counting(200, 50);
  ScoreOptions options{.chunks = *plan_chunks(tokens.size(), {.n_ctx = 32}), .bos = {}, .on_chunk = {}};
  LogitsSource* sources[] = {&q, &base};
  Divergence d;
  EXPECT_TRUE(score(tokens, options, sources, [&](int32_t t, auto rows) { d.add(t, rows[0], rows[1]); }));
  return d;
}

float wavy(int32_t now, int32_t v) {
  return 3 * std::sin(static_cast<float>(now * 7 + v * 13));
}

TEST(Divergence, of_a_model_from_itself_is_nothing) {
  MadeUp a(50, 7, wavy), b(50, 4, wavy);  // in steps of the smaller
  const Divergence d = compare(a, b);
  EXPECT_EQ(d.n(), 90);
  EXPECT_NEAR(d.mean_kl().value, 0, 1e-7);
  EXPECT_NEAR(d.kl_percentile(1), 0, 1e-7);
  EXPECT_EQ(d.same_top().value, 1);
  EXPECT_EQ(d.rms_delta_p().value, 0);
  EXPECT_NEAR(d.correlation(), 1, 1e-9);
  EXPECT_NEAR(d.log_ratio().value, 0, 1e-12);
  EXPECT_NEAR(d.ratio().value, 1, 1e-12);
}

TEST(Divergence, of_a_known_pair_is_as_computed_by_hand) {
  Divergence d;
  const float base[] = {std::log(0.5f), std::log(0.25f), std::log(0.25f)},
              q[] = {std::log(0.25f), std::log(0.5f), std::log(0.25f)};
  d.add(0, q, base);
  d.add(2, q, base);
  const double kl = 0.5 * std::log(2.0) - 0.25 * std::log(2.0);
  EXPECT_NEAR(d.mean_kl().value, kl, 1e-6);
  EXPECT_NEAR(d.mean_delta_p().value, -0.125, 1e-6);
  EXPECT_NEAR(d.rms_delta_p().value, std::sqrt(0.0625 / 2), 1e-6);
  EXPECT_EQ(d.same_top().value, 0);
  EXPECT_NEAR(d.delta_p_percentile(0), -0.25, 1e-6);
  EXPECT_NEAR(d.delta_p_percentile(0.5), -0.125, 1e-6);
  EXPECT_NEAR(d.delta_p_percentile(1), 0, 1e-6);
  EXPECT_NEAR(d.log_ratio().value, std::log(2.0) / 2, 1e-6);
  EXPECT_NEAR(d.difference().value, d.q().perplexity().value - d.base().perplexity().value, 1e-12);
}

TEST(Divergence, a_uniform_model_lies_as_far_as_the_entropy_says) {
  MadeUp q(50, 7, [](int32_t, int32_t) { return 0.0f; }), base(50, 7, wavy);
  const Divergence d = compare(q, base);
  EXPECT_GT(d.mean_kl().value, 0.1);
  EXPECT_GT(d.mean_kl().error, 0);
  EXPECT_LT(d.same_top().value, 0.2);
  EXPECT_LE(d.kl_percentile(0.1), d.kl_percentile(0.9));
}

}  // namespace
}  // namespace ridge::quality
