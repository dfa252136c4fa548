// What the tests of this folder share: rows of logits, candidates from probabilities, chains with plain facts.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sample/chain.h"

namespace ridge::sample::testing {

// Candidates over logits ln(p), and room for them.
struct Row {
  std::vector<float> logits;
  std::vector<Candidate> room;
  explicit Row(const std::vector<double>& p) : room(p.size()) {
    for (const double x : p) logits.push_back(static_cast<float>(std::log(x)));
  }
  Candidates candidates() { return Candidates(logits, room); }
};

// "id:probability ..." in the order of the list.
inline std::vector<std::pair<int, double>> final_list(Candidates& c) {
  c.softmax();
  std::vector<std::pair<int, double>> out;
  for (const Candidate& x : c.items()) out.emplace_back(x.id, x.p);
  return out;
}

inline void expect_list(Candidates c, const std::vector<std::pair<int, double>>& expected) {
  const auto found = final_list(c);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].first, expected[i].first) << "place " << i;
    EXPECT_NEAR(found[i].second, expected[i].second, 1e-5) << "place " << i;
  }
}

// Bell-shaped logits (sum of uniforms) with the given spread.
inline std::vector<float> random_logits(size_t n, uint64_t seed, double spread = 3) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (uint64_t d = 0; d < 6; ++d) sum += random_uniform(seed, 77, i, d) - 0.5;
    out[i] = static_cast<float>(sum * spread * std::sqrt(2.0));
  }
  return out;
}

// Token i is the letter 'a' + i % 26.
inline void letter(int32_t token, std::string& out) {
  out += static_cast<char>('a' + token % 26);
}

inline SamplerChain chain_of(const SamplingParams& params, size_t n_vocab, int32_t n_ctx = 4096) {
  auto chain =
      SamplerChain::create(params, {.n_vocab = static_cast<int32_t>(n_vocab), .n_ctx = n_ctx, .token_text = letter});
  EXPECT_TRUE(chain.has_value()) << (chain ? "" : chain.error().message);
  return std::move(*chain);
}

// Everything off: the softmax itself.
inline SamplingParams plain(uint64_t seed = 1) {
  SamplingParams p;
  p.seed = seed;
  p.temperature = 1;
  p.top_k = 0;
  p.top_p = 1;
  p.min_p = 0;
  return p;
}

inline int32_t token_at(SamplerChain& chain, const std::vector<float>& logits, uint64_t position,
                        uint64_t sequence = 0) {
  const auto result = chain.sample(logits, sequence, position);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? result->token : -1;
}

}  // namespace ridge::sample::testing
