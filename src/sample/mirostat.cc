// Mirostat 1 and 2; see mirostat.h.
#include "sample/mirostat.h"

#include <cmath>

namespace ridge::sample {

namespace {
// How many of the most likely candidates the Zipf exponent is estimated from: the paper's m.
constexpr size_t kZipfTokens = 100;
}  // namespace

size_t Mirostat::cut_v1(std::span<const Candidate> sorted) const {
  if (sorted.size() < 2) return sorted.size();
  double sum_tb = 0;
  double sum_tt = 0;
  for (size_t i = 0; i + 1 < std::min(sorted.size(), kZipfTokens); ++i) {
    const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    // ln(p[i] / p[i+1]) without the quotient, which may be of two underflowed numbers
    const double b = static_cast<double>(sorted[i].logit) - sorted[i + 1].logit;
    sum_tb += t * b;
    sum_tt += t * t;
  }
  const double s = sum_tb / sum_tt;
  const double epsilon = s - 1;
  const double n = static_cast<double>(options_.n_vocab);
  // (epsilon * 2^mu / (1 - n^-epsilon))^(1/s); at epsilon = 0 the quotient epsilon / (1 - n^-epsilon) is 1 / ln n.
  const double quotient = std::abs(epsilon) < 1e-9 ? 1 / std::log(n) : epsilon / (1 - std::pow(n, -epsilon));
  const double k = std::pow(quotient * std::exp2(mu_), 1 / s);
  if (!(k > 1)) return 1;  // also where it is no number
  return k >= static_cast<double>(sorted.size()) ? sorted.size() : static_cast<size_t>(k);
}

void Mirostat::truncate(Candidates& c) const {
  // A whole vocabulary is never sorted: version 1 needs the order of kZipfTokens, version 2 only that of what passes.
  if (options_.version == 1) {
    c.materialise();
    const auto items = c.items();
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), kZipfTokens));
    if (!c.sorted()) {
      if (middle != items.end()) std::nth_element(items.begin(), middle, items.end(), MoreLikely{});
      std::sort(items.begin(), middle, MoreLikely{});
    }
    c.keep_top(cut_v1(items));
  } else {
    c.softmax();
    const auto items = c.items();
    const auto surprising = [this](const Candidate& x) { return -std::log2(static_cast<double>(x.p)) > mu_; };
    const auto end = std::remove_if(items.begin(), items.end(), surprising);
    if (end == items.begin()) {
      c.keep_top(1);  // remove_if moved nothing: all are still there
    } else {
      c.keep_first(static_cast<size_t>(end - items.begin()));
      c.sort();
    }
  }
  c.softmax();
}

void Mirostat::drawn(int32_t token, double p) {
  pending_ = token;
  pending_surprise_ = p > 0 ? -std::log2(p) : -std::log2(std::numeric_limits<float>::min());
}

void Mirostat::accept(int32_t token) {
  if (token == pending_) mu_ -= options_.eta * (pending_surprise_ - options_.tau);
  pending_ = -1;
}

void Mirostat::reset() {
  mu_ = 2 * options_.tau;
  pending_ = -1;
}

}  // namespace ridge::sample
