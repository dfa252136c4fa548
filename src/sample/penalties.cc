// Penalties over a sliding window; see penalties.h.
#include "sample/penalties.h"

namespace ridge::sample {

Penalties::Penalties(const Options& options, size_t n_vocab)
    : options_(options), ring_(options.window), counts_(n_vocab), place_(n_vocab) {
  distinct_.reserve(std::min(options.window, n_vocab) + 1);
}

void Penalties::accept(int32_t token) {
  if (ring_.empty()) return;
  if (n_ == ring_.size()) {
    const auto oldest = static_cast<size_t>(ring_[next_]);
    if (--counts_[oldest] == 0) {
      const int32_t last = distinct_.back();
      distinct_[place_[oldest]] = last;
      place_[static_cast<size_t>(last)] = place_[oldest];
      distinct_.pop_back();
    }
  } else {
    ++n_;
  }
  ring_[next_] = token;
  next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
  if (counts_[static_cast<size_t>(token)]++ == 0) {
    place_[static_cast<size_t>(token)] = static_cast<uint32_t>(distinct_.size());
    distinct_.push_back(token);
  }
}

void Penalties::reset() {
  for (const int32_t token : distinct_) counts_[static_cast<size_t>(token)] = 0;
  distinct_.clear();
  next_ = 0;
  n_ = 0;
}

float Penalties::penalised(float logit, uint32_t count) const {
  constexpr double kMax = std::numeric_limits<float>::max();
  if (logit < -std::numeric_limits<float>::max()) return logit;  // banned stays banned
  double x = logit <= 0 ? logit * options_.repeat : logit / options_.repeat;
  x -= count * options_.frequency + options_.presence;
  return static_cast<float>(std::clamp(x, -kMax, kMax));
}

void Penalties::apply(Candidates& c) const {
  if (c.dense()) {
    for (const int32_t token : distinct_) {
      float& logit = c.logits()[static_cast<size_t>(token)];
      logit = penalised(logit, counts_[static_cast<size_t>(token)]);
    }
    return;
  }
  bool changed = false;
  for (Candidate& x : c.items()) {
    const uint32_t count = counts_[static_cast<size_t>(x.id)];
    if (count == 0) continue;
    x.logit = penalised(x.logit, count);
    changed = true;
  }
  if (changed) c.set_sorted(c.items().size() < 2);
}

}  // namespace ridge::sample
