#include "model/rope.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace ridge {
namespace {

// The dimension pair that turns `rotations` times over the original context (YaRN, equation 17).
double pair_of(double rotations, int32_t n_rot, int32_t n_ctx_orig, double freq_base) {
  return n_rot * std::log(n_ctx_orig / (rotations * 2.0 * std::numbers::pi)) / (2.0 * std::log(freq_base));
}

// YaRN's attention factor for a context stretched `factor` times (equation 22).
double magnitude_of(double factor, double multiplier) {
  return factor <= 1.0 ? 1.0 : 0.1 * multiplier * std::log(factor) + 1.0;
}

}  // namespace

std::vector<float> bind_rope_factors(Binder& b, const RopeHparams& h, int32_t n_ctx) {
  const Dim n{h.n_rot / 2, "n_rot/2"};
  const std::vector<float> llama3 = b.maybe_factors("rope_freqs.weight", n);
  const std::vector<float> longer = b.maybe_factors("rope_factors_long.weight", n);
  const std::vector<float> shorter = b.maybe_factors("rope_factors_short.weight", n);
  if (!llama3.empty()) return llama3;
  return n_ctx > h.n_ctx_orig ? longer : shorter;
}

RopeSpec make_rope(const RopeHparams& h, const RopeOptions& options) {
  assert(options.factors.empty() || options.factors.size() == static_cast<size_t>(h.n_rot / 2));
  RopeSpec spec;
  spec.split_halves = options.split_halves;
  spec.inv_freq.reserve(static_cast<size_t>(h.n_rot / 2));
  const double freq_base = options.freq_base, inv_factor = 1.0 / h.factor;

  // Pairs below `low` turn often enough to keep their frequency, pairs above `high` are interpolated, a ramp lies
  // between.
  const bool yarn = h.ext_factor != 0.0f && freq_base > 1.0;
  double low = 0, high = 0;
  if (yarn) {
    low = std::max(0.0, std::floor(pair_of(h.beta_fast, h.n_rot, h.n_ctx_orig, freq_base)));
    high = std::min(h.n_rot - 1.0, std::ceil(pair_of(h.beta_slow, h.n_rot, h.n_ctx_orig, freq_base)));
  }
  for (int32_t i = 0; i < h.n_rot / 2; ++i) {
    double freq = std::pow(freq_base, -2.0 * i / h.n_rot);
    if (!options.factors.empty()) freq /= options.factors[static_cast<size_t>(i)];
    double kept = 0.0;
    if (yarn) kept = h.ext_factor * (1.0 - std::clamp((i - low) / std::max(0.001, high - low), 0.0, 1.0));
    spec.inv_freq.push_back(static_cast<float>(freq * (inv_factor * (1.0 - kept) + kept)));
  }

  double magnitude = h.attn_factor;
  if (yarn) {
    magnitude *= magnitude_of(h.factor, 1.0);
    if (options.log_multiplier != 0.0) magnitude /= magnitude_of(h.factor, options.log_multiplier);
  }
  spec.magnitude = static_cast<float>(magnitude);
  return spec;
}

}  // namespace ridge
