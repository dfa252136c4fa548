// Time of one SamplerChain::sample() on the vocabulary of Qwen2/3 (151,936 tokens), by kind of chain. Bell-shaped
// logits of deviation 3, which is near what small language models give. Bytes touched at least: the row read twice, the
// copy written.
#include <benchmark/benchmark.h>

#include <cmath>

#include "base/rng.h"
#include "sample/chain.h"

namespace {

using ridge::sample::SamplerChain;
using ridge::SamplingParams;

constexpr int32_t kVocab = 151936;

const std::vector<float>& row() {
  static const std::vector<float> logits = [] {
    std::vector<float> out(kVocab);
    for (size_t i = 0; i < out.size(); ++i) {
      double sum = 0;
      for (uint64_t d = 0; d < 12; ++d) sum += ridge::random_uniform(1, 0, i, d) - 0.5;
      out[i] = static_cast<float>(3 * sum);
    }
    return out;
  }();
  return logits;
}

void run(benchmark::State& state, void (*change)(SamplingParams&), size_t n_history) {
  SamplingParams params;
  params.seed = 1;
  change(params);
  auto chain =
      SamplerChain::create(params, {.n_vocab = kVocab, .n_ctx = 131072, .token_text = [](int32_t t, std::string& out) {
                                      out += static_cast<char>('a' + t % 26);
                                    }});
  if (!chain) return state.SkipWithError(chain.error().message.c_str());
  for (size_t i = 0; i < n_history; ++i) chain->accept(static_cast<int32_t>(ridge::random_bits(2, 0, i) % 1000));
  uint64_t position = 0;
  for (auto _ : state) {
    const auto result = chain->sample(row(), 0, position++);
    if (!result) return state.SkipWithError(result.error().message.c_str());
    benchmark::DoNotOptimize(result->token);
  }
  state.SetBytesProcessed(state.iterations() * kVocab * 12);
}

#define RIDGE_SAMPLER_BENCH(name, n_history, ...) \
  BENCHMARK_CAPTURE(                              \
      run, name,                                  \
      [](SamplingParams& p) {                     \
        (void)p;                                  \
        __VA_ARGS__;                              \
      },                                          \
      n_history)                                  \
      ->Unit(benchmark::kMicrosecond)

RIDGE_SAMPLER_BENCH(defaults, 0, (void)0);
RIDGE_SAMPLER_BENCH(greedy, 0, p.temperature = 0);
RIDGE_SAMPLER_BENCH(defaults_with_20_logprobs, 0, p.n_probs = 20);
RIDGE_SAMPLER_BENCH(penalties_over_64, 64, p.repeat_penalty = 1.1);
RIDGE_SAMPLER_BENCH(penalties_over_131072, 131072, p.repeat_penalty = 1.1; p.repeat_last_n = -1);
RIDGE_SAMPLER_BENCH(dry_over_64, 64, p.dry_multiplier = 0.8);
RIDGE_SAMPLER_BENCH(dry_over_131072, 131072, p.dry_multiplier = 0.8; p.dry_penalty_last_n = -1);
RIDGE_SAMPLER_BENCH(top_n_sigma, 0, p.top_n_sigma = 2);
RIDGE_SAMPLER_BENCH(min_p_alone, 0, p.top_k = 0; p.top_p = 1);
RIDGE_SAMPLER_BENCH(top_p_alone, 0, p.top_k = 0; p.min_p = 0);
RIDGE_SAMPLER_BENCH(typical_alone, 0, p.top_k = 0; p.top_p = 1; p.min_p = 0; p.typical_p = 0.9);
RIDGE_SAMPLER_BENCH(softmax_alone, 0, p.top_k = 0; p.top_p = 1; p.min_p = 0; p.temperature = 1);
RIDGE_SAMPLER_BENCH(mirostat_2, 0, p.mirostat = 2);

}  // namespace

BENCHMARK_MAIN();
