// SamplerChain: a row of logits becomes a token. One chain a sequence.
//
// Order: mask, logit bias (and ignore_eos), the samplers of params.samplers, the draw. Mirostat replaces the samplers
// by temperature and itself. Temperature <= 0 is greedy: penalties and DRY apply, everything that truncates is skipped,
// and the highest logit wins, the lowest id among equals (so greedy equals top_k 1 with the default samplers). The
// random number is a pure function of (seed, sequence, position): no state, no order of calls, no batch can change it.
// Draw 0 chooses the token, draw 1 decides XTC.
// Refuses: parameters out of range, a seed not drawn, logits with NaN or +infinity, a row in which nothing is left.
// Allocates in create() only. Thread-safety: one thread at a time; chains that share a scratch are one thread's.
#pragma once

#include <optional>

#include "sample/dry.h"
#include "sample/logprobs.h"
#include "sample/mirostat.h"
#include "sample/params.h"
#include "sample/penalties.h"

namespace ridge::sample {

// What a chain must know about the vocabulary and the context.
struct VocabFacts {
  int32_t n_vocab = 0;
  int32_t n_ctx = 0;                             // bounds the windows of penalties and DRY
  std::span<const int32_t> end_tokens = {};      // what ignore_eos bans (end of sequence, end of turn)
  TokenText token_text = {};                     // for DRY sequence breakers; must outlive the chain
  std::shared_ptr<SamplerScratch> scratch = {};  // shared by the chains of one thread; empty: the chain makes its own
};

struct SampleResult {
  int32_t token = -1;
  // Of the chosen token; asked for by n_probs > 0 or logprobs. Of the raw logits, or of the final distribution with
  // post_sampling_probs. Finite, <= 0.
  std::optional<float> logprob;
  // The n_probs most likely, best first (with post_sampling_probs as many as were left); valid until the next call.
  std::span<const TokenLogprob> top;
};

class SamplerChain {
 public:
  static Result<SamplerChain> create(const SamplingParams& params, const VocabFacts& facts);

  // A token that became part of the sequence: prompt tokens too, in order. Ids outside the vocabulary are ignored.
  void accept(int32_t token);

  // allowed: bit `id` of the little-endian bitmask says whether the token may come; empty: all may. The same arguments
  // give the same result however often it is called, until accept().
  Result<SampleResult> sample(std::span<const float> logits, uint64_t sequence, uint64_t position,
                              std::span<const uint32_t> allowed = {});

  // Forgets all accepted tokens.
  void reset();

  const SamplingParams& params() const { return params_; }

 private:
  SamplerChain() = default;
  Result<void> load(std::span<const float> logits, std::span<const uint32_t> allowed);
  void apply(SamplerKind kind, Candidates& c, double xtc_chance);
  void report(std::span<const float> logits, Candidates& c, SampleResult& result);

  SamplingParams params_;
  std::vector<SamplerKind> active_;  // params_.samplers without what is neutral or, when greedy, without effect
  std::vector<int32_t> banned_;
  std::optional<Penalties> penalties_;
  std::optional<Dry> dry_;
  std::optional<Mirostat> mirostat_;
  std::shared_ptr<SamplerScratch> scratch_;
  std::vector<TokenLogprob> top_;
  int32_t n_vocab_ = 0;
};

}  // namespace ridge::sample
