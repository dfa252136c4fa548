// Log-probabilities of the model's own distribution (before any sampler), by log-softmax over the whole vocabulary.
// Every value is finite and <= 0: what is impossible or underflows gets kLogprobFloor, so that JSON can carry it.
#pragma once

#include "sample/candidates.h"

namespace ridge::sample {

inline constexpr float kLogprobFloor = -9999.0f;

struct TokenLogprob {
  int32_t token = -1;
  float logprob = 0;
};

// ln(sum(exp(logits))); logits without NaN and +infinity, at least one finite.
double log_sum_exp(std::span<const float> logits);

// logit - lse, within [kLogprobFloor, 0].
float to_logprob(double logit, double lse);

// The most likely out.size() tokens, or fewer if fewer have a finite logit (returns how many). room: select_top_room().
size_t top_logprobs(std::span<const float> logits, double lse, std::span<Candidate> room, std::span<TokenLogprob> out);

}  // namespace ridge::sample
