// Mirostat 1 and 2: truncates so that the surprise of what is drawn stays near tau bits.
// Truth: Basu et al. 2020 (arXiv:2007.14966). The state mu moves in accept(), not in the draw: drawing twice at one
// position gives the same token, and a token that was forced or rejected teaches nothing.
#pragma once

#include "sample/candidates.h"

namespace ridge::sample {

class Mirostat {
 public:
  struct Options {
    int version = 1;  // or 2
    double tau = 5;   // bits
    double eta = 0.1;
    size_t n_vocab = 0;
  };
  explicit Mirostat(const Options& options) : options_(options), mu_(2 * options.tau) {}

  // Sorts and truncates; the probabilities of what remains are valid after it.
  void truncate(Candidates& c) const;
  // The token that was drawn and its probability among what remained.
  void drawn(int32_t token, double p);
  void accept(int32_t token);
  void reset();
  double mu() const { return mu_; }

 private:
  // How many version 1 keeps; the first 100 of all candidates must be in order.
  size_t cut_v1(std::span<const Candidate> candidates) const;

  Options options_;
  double mu_;
  int32_t pending_ = -1;
  double pending_surprise_ = 0;
};

}  // namespace ridge::sample
