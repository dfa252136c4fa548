// What the round-to-nearest encoders share. Refuses nothing: any float is encoded, and a block that holds a NaN or an
// infinity gets the scale NaN, so that it decodes to NaN and the damage stays visible instead of becoming a plausible
// number.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace ridge::quant {

struct BlockRange {
  float min = 0, max = 0;
  float farthest = 0;  // the value of largest magnitude, the first of equals, with its sign
  bool finite = true;
};

inline BlockRange range_of(const float* x, int n) {
  BlockRange r;
  r.min = r.max = x[0];
  for (int i = 0; i < n; ++i) {
    r.finite &= std::isfinite(x[i]);
    if (x[i] < r.min) r.min = x[i];
    if (x[i] > r.max) r.max = x[i];
    if (std::fabs(x[i]) > std::fabs(r.farthest)) r.farthest = x[i];
  }
  return r;
}

inline float inverse_or_zero(float d) {
  return d != 0 ? 1.0f / d : 0.0f;
}

// Truncates towards zero into [lo, hi]. NaN gives lo: converting it to int would be undefined.
inline int truncate_to(float v, int lo, int hi) {
  if (!(v > static_cast<float>(lo))) return lo;
  if (v >= static_cast<float>(hi)) return hi;
  return static_cast<int>(v);
}

inline constexpr uint16_t kNanF16 = 0x7E00;

}  // namespace ridge::quant
