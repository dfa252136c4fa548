// Top-n-sigma: keeps logits within n standard deviations of the highest; mean and deviation over all finite logits.
// Truth: Tang et al. 2024 (arXiv:2411.07641).
#include <cmath>

#include "sample/samplers.h"

namespace ridge::sample {

namespace {

// Mean of f(x) over the finite x. Lanes, for vectors, as in Candidates::max_logit.
template <class F>
double mean_of(std::span<const float> x, F f) {
  constexpr size_t kLanes = 8;
  double sum[kLanes] = {};
  double n[kLanes] = {};
  size_t i = 0;
  const auto add = [&](size_t lane, float v) {
    const bool finite = v >= -std::numeric_limits<float>::max();
    sum[lane] += finite ? f(static_cast<double>(v)) : 0.0;
    n[lane] += finite ? 1.0 : 0.0;
  };
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) add(j, x[i + j]);
  }
  for (; i < x.size(); ++i) add(0, x[i]);
  for (size_t j = 1; j < kLanes; ++j) {
    sum[0] += sum[j];
    n[0] += n[j];
  }
  return n[0] > 0 ? sum[0] / n[0] : 0;
}

template <class F>
double mean_of(std::span<const Candidate> x, F f) {
  double sum = 0;
  for (const Candidate& v : x) sum += f(static_cast<double>(v.logit));
  return sum / static_cast<double>(x.size());
}

template <class View>
double deviation(View x) {
  const double mean = mean_of(x, [](double v) { return v; });
  return std::sqrt(mean_of(x, [mean](double v) { return (v - mean) * (v - mean); }));
}

}  // namespace

void top_n_sigma(Candidates& c, double n) {
  if (n <= 0 || c.size() < 2) return;
  const double sigma =
      c.dense() ? deviation(std::span<const float>(c.logits())) : deviation(std::span<const Candidate>(c.items()));
  const float limit = std::max(static_cast<float>(c.max_logit() - n * sigma), -std::numeric_limits<float>::max());
  if (c.dense()) return c.materialise_above(limit);
  const auto items = c.items();
  const auto end =
      std::copy_if(items.begin(), items.end(), items.begin(), [limit](const Candidate& x) { return x.logit >= limit; });
  c.keep_first(static_cast<size_t>(end - items.begin()));
}

}  // namespace ridge::sample
