// Temperature, plain and dynamic. Dynamic: the temperature lies between t - range and t + range, at the place that the
// normalised entropy of the candidates (to the power of exponent) points to.
// Truth: softmax temperature; for the dynamic form, Zhu et al. 2023 (arXiv:2309.02772) in the entropy form that users
// know.
#include <cmath>

#include "sample/samplers.h"

namespace ridge::sample {

namespace {

// Below this a division could overflow to infinity and make NaN of differences; the best logit is subtracted first,
// which no softmax sees.
constexpr double kTinyTemperature = 1e-3;

}  // namespace

void temperature(Candidates& c, double t) {
  if (t <= 0) return c.keep_top(1);
  if (t == 1) return;
  const double shift = t < kTinyTemperature ? c.max_logit() : 0.0;
  const auto scaled = [t, shift](float x) {
    return static_cast<float>(std::max((x - shift) / t, static_cast<double>(-std::numeric_limits<float>::max())));
  };
  c.materialise();
  for (Candidate& x : c.items()) x.logit = scaled(x.logit);
}

void dynamic_temperature(Candidates& c, double t, double range, double exponent) {
  if (range <= 0) return temperature(c, t);
  c.softmax();
  if (c.items().size() < 2) return;
  double entropy = 0;
  for (const Candidate& x : c.items()) entropy -= x.p > 0 ? x.p * std::log(static_cast<double>(x.p)) : 0.0;
  const double share = std::clamp(entropy / std::log(static_cast<double>(c.items().size())), 0.0, 1.0);
  const double low = std::max(0.0, t - range);
  temperature(c, low + (t + range - low) * std::pow(share, exponent));
}

}  // namespace ridge::sample
