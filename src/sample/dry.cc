// DRY: breakers, the search for repeats, the penalty; see dry.h.
#include "sample/dry.h"

#include <cmath>

namespace ridge::sample {

Dry::Dry(const Options& options, std::span<const std::string> breakers, TokenText text, size_t n_vocab)
    : options_(options),
      text_(std::move(text)),
      ring_(options.window),
      reversed_(options.window),
      z_(options.window),
      repeat_(n_vocab) {
  touched_.reserve(std::min(options.window, n_vocab));
  // base^exponent must stay a finite float; at base 1 it does whatever the exponent.
  max_exponent_ = options.base > 1.000001 ? std::log(std::numeric_limits<float>::max()) / std::log(options.base)
                                          : std::numeric_limits<double>::max();
  for (const std::string& b : breakers) {
    Breaker breaker{b, std::vector<size_t>(b.size(), 0), 0};
    for (size_t i = 1, k = 0; i < b.size(); ++i) {
      while (k > 0 && b[i] != b[k]) k = breaker.fallback[k - 1];
      if (b[i] == b[k]) ++k;
      breaker.fallback[i] = k;
    }
    breakers_.push_back(std::move(breaker));
  }
}

bool Dry::Breaker::feed(char byte) {
  while (matched > 0 && (matched == text.size() || text[matched] != byte)) matched = fallback[matched - 1];
  if (text[matched] == byte) ++matched;
  return matched == text.size();
}

void Dry::accept(int32_t token) {
  if (ring_.empty()) return;
  ring_[next_] = token;
  next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
  n_ = std::min(n_ + 1, ring_.size());
  since_break_ = std::min(since_break_ + 1, ring_.size());
  if (breakers_.empty() || !text_) return;
  bytes_.clear();
  text_(token, bytes_);
  for (Breaker& b : breakers_) {
    for (const char byte : bytes_) {
      if (b.feed(byte)) since_break_ = 0;
    }
  }
}

void Dry::reset() {
  next_ = n_ = since_break_ = 0;
  for (Breaker& b : breakers_) b.matched = 0;
}

void Dry::find_repeats() {
  for (size_t i = 0; i < n_; ++i) reversed_[i] = ring_[(next_ + ring_.size() - 1 - i) % ring_.size()];
  // z[i]: how many tokens of the text that ends i tokens ago equal the end of the whole text.
  size_t left = 0;
  size_t right = 0;
  for (size_t i = 1; i < n_; ++i) {
    size_t k = i < right ? std::min<size_t>(right - i, z_[i - left]) : 0;
    while (i + k < n_ && reversed_[k] == reversed_[i + k]) ++k;
    z_[i] = static_cast<uint32_t>(k);
    if (i + k > right) {
      left = i;
      right = i + k;
    }
    const size_t length = std::min(k, since_break_);
    if (length < options_.allowed_length) continue;
    const int32_t next_token = reversed_[i - 1];  // what followed that occurrence
    uint32_t& best = repeat_[static_cast<size_t>(next_token)];
    if (best == 0) touched_.push_back(next_token);
    best = std::max(best, static_cast<uint32_t>(length) + 1);
  }
}

float Dry::penalised(float logit, uint32_t repeat) const {
  constexpr double kMax = std::numeric_limits<float>::max();
  if (logit < -std::numeric_limits<float>::max()) return logit;  // banned stays banned
  const double exponent = static_cast<double>(repeat - 1 - options_.allowed_length);
  const double penalty = options_.multiplier * std::pow(options_.base, std::min(exponent, std::floor(max_exponent_)));
  return static_cast<float>(std::clamp(logit - penalty, -kMax, kMax));
}

void Dry::apply(Candidates& c) {
  if (n_ <= options_.allowed_length || since_break_ < options_.allowed_length) return;
  find_repeats();
  if (c.dense()) {
    for (const int32_t token : touched_) {
      float& logit = c.logits()[static_cast<size_t>(token)];
      logit = penalised(logit, repeat_[static_cast<size_t>(token)]);
    }
  } else if (!touched_.empty()) {
    for (Candidate& x : c.items()) {
      if (const uint32_t repeat = repeat_[static_cast<size_t>(x.id)]; repeat != 0) x.logit = penalised(x.logit, repeat);
    }
    c.set_sorted(c.items().size() < 2);
  }
  for (const int32_t token : touched_) repeat_[static_cast<size_t>(token)] = 0;
  touched_.clear();
}

}  // namespace ridge::sample
