// Repeat, frequency and presence penalties over the last tokens of the sequence.
// Truth: Keskar et al. 2019 (arXiv:1909.05858) for the repeat penalty, divided where the logit is positive and
// multiplied where not; OpenAI's published formula for the two others: logit -= count * frequency + presence. The
// counts are kept up to date by accept(), so a window of the whole context costs no more than one of 64.
#pragma once

#include "sample/candidates.h"

namespace ridge::sample {

class Penalties {
 public:
  struct Options {
    double repeat = 1;
    double frequency = 0;
    double presence = 0;
    size_t window = 0;  // tokens
  };
  Penalties(const Options& options, size_t n_vocab);

  void accept(int32_t token);
  void reset();
  void apply(Candidates& c) const;

 private:
  float penalised(float logit, uint32_t count) const;

  Options options_;
  std::vector<int32_t> ring_;  // the last tokens, oldest at next_ once full
  size_t next_ = 0;
  size_t n_ = 0;
  std::vector<uint32_t> counts_;   // by token
  std::vector<uint32_t> place_;    // by token: its index in distinct_, valid while its count is not 0
  std::vector<int32_t> distinct_;  // tokens with a count
};

}  // namespace ridge::sample
