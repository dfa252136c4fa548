#include "account/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ridge {
namespace {

constexpr double kConfidence = 0.99;

// The chance of at most one sample above the bound when each is above it with probability 1 - q.
double at_most_one_above(double n, double q) {
  return std::pow(q, n) + n * (1.0 - q) * std::pow(q, n - 1.0);
}

}  // namespace

std::vector<double> sorted_samples(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  for ([[maybe_unused]] const double x : sorted) assert(std::isfinite(x) && "a sample is a finite number");
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double nearest_rank(std::span<const double> sorted, double q) {
  assert(!sorted.empty() && q > 0.0 && q <= 1.0 && "a percentile is of something");
  const double rank = q * static_cast<double>(sorted.size());
  // 0.95 * 20 is a hair above 19 in binary; such a hair must not move the rank.
  const double whole = std::ceil(rank - 1e-9 * std::max(1.0, rank));
  const auto idx = static_cast<size_t>(std::max(1.0, whole)) - 1;
  return sorted[std::min(idx, sorted.size() - 1)];
}

size_t samples_needed(double q) {
  assert(q > 0.0 && q <= 1.0 && "a quantile");
  if (q >= 1.0) return 1;
  // The chance falls with n from n = 1 on for q >= 1/2; below that the mirrored tail asks the same.
  const double p = std::max(q, 1.0 - q);
  size_t low = 1, high = 2;
  while (at_most_one_above(static_cast<double>(high), p) >= 1.0 - kConfidence) low = high, high *= 2;
  while (low + 1 < high) {
    const size_t middle = low + (high - low) / 2;
    (at_most_one_above(static_cast<double>(middle), p) < 1.0 - kConfidence ? high : low) = middle;
  }
  return high;
}

Percentile percentile(std::span<const double> sorted, double q) {
  Percentile p{.q = q, .value = {}, .n = sorted.size(), .need_n = samples_needed(q)};
  if (p.n >= p.need_n) p.value = nearest_rank(sorted, q);
  return p;
}

std::optional<Interval> median_interval(std::span<const double> sorted, double confidence) {
  assert(confidence > 0.0 && confidence < 1.0 && "a confidence is a share");
  const size_t n = sorted.size();
  const double tail = (1.0 - confidence) / 2.0;
  // Each sample lies below the median with probability 1/2. The k-th from either end is taken for the largest k that
  // keeps both tails; logarithms, for 2^-n is no double from n = 1075 on.
  double log_pmf = -static_cast<double>(n) * std::log(2.0), below = 0;
  size_t k = 0;
  while (k < n / 2) {
    below += std::exp(log_pmf);
    if (below > tail) break;
    log_pmf += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
    ++k;
  }
  if (k == 0) return std::nullopt;
  return Interval{sorted[k - 1], sorted[n - k]};
}

std::optional<Summary> summarise(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  const std::vector<double> sorted = sorted_samples(samples);
  const auto n = static_cast<double>(sorted.size());
  Summary s{.n = sorted.size(),
            .mean = 0,
            .median = nearest_rank(sorted, 0.5),
            .min = sorted.front(),
            .max = sorted.back(),
            .stdev = {},
            .median_95 = median_interval(sorted)};
  for (const double x : sorted) s.mean += x / n;
  if (s.n > 1) {
    double squares = 0;
    for (const double x : sorted) squares += (x - s.mean) * (x - s.mean);
    s.stdev = std::sqrt(squares / (n - 1.0));
  }
  return s;
}

}  // namespace ridge
