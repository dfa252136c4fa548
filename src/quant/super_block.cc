// One template for the formats with minimums and one for those without. The number of trials of each grid was chosen on
// golden/quant and on normal and Laplace noise: more trials gain less than 0.1 % of the error.
#include "quant/super_block.h"

#include <algorithm>

#include "quant/encode_util.h"
#include "quant/iq4_search.h"
#include "quant/search.h"
#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

using search::AffineGrid;
using search::Integers;
using search::load;
using search::ScaleGrid;
using search::splat;
using search::sum;
using search::V4;

constexpr int kElems = 256;

bool all_finite(const float* x) {
  V4 zeros{};
  for (int i = 0; i < kElems; i += 4) zeros += load(x + i) * 0.0f;  // NaN or infinity times 0 is NaN
  return sum(zeros) == 0;
}

// Nearest whole number in [lo, hi]; NaN gives lo.
int whole(float v, int lo, int hi) {
  return truncate_to(std::floor(v + 0.5f), lo, hi);
}

// ---- with minimums -------------------------------------------------------------------------------------------------

template <int kGroup, int kTop, int kCodeTop>
class AffineSearch {
 public:
  static constexpr int kGroups = kElems / kGroup;

  AffineSearch(const float* x, const float* importance) : x_(x) { search::weigh(x, importance, kElems, w_); }

  AffineBlock run(const AffineGrid& grid, int n_rounds) {
    float scale[kGroups], min[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      const auto a = search::search_affine<kGroup, true>(x_ + g * kGroup, w_ + g * kGroup, kTop, grid);
      scale[g] = a.scale, min[g] = -a.offset;
    }
    AffineBlock best;
    const float largest = *std::max_element(scale, scale + kGroups), deepest = *std::max_element(min, min + kGroups);
    best.d = f16_from_f32(largest / kCodeTop);
    best.dmin = f16_from_f32(deepest / kCodeTop);
    choose_codes(best, scale, min);
    float least = round_all(best);
    for (int r = 0; r < n_rounds; ++r) {
      AffineBlock next = best;
      refit_block(next);
      round_all(next);
      const float error = improve_groups(next);
      if (!(error < least)) break;
      least = error;
      best = next;
    }
    return best;
  }

 private:
  static void choose_codes(AffineBlock& b, const float* scale, const float* min) {
    const float inverse = inverse_or_zero(f32_from_f16(b.d)), inverse_min = inverse_or_zero(f32_from_f16(b.dmin));
    for (int g = 0; g < kGroups; ++g) {
      b.scale[g] = static_cast<uint8_t>(whole(scale[g] * inverse, 0, kCodeTop));
      b.min[g] = static_cast<uint8_t>(whole(min[g] * inverse_min, 0, kCodeTop));
    }
  }

  // The integers that the group's scale and minimum make nearest, into q; returns the weighted error.
  float round_group(int g, float scale, float min, uint8_t* q_out) const {
    const V4 by = splat(inverse_or_zero(scale)), up = splat(min), step = splat(scale), top = splat(kTop);
    V4 error{};
    for (int k = 0; k < kGroup; k += 4) {
      const int i = g * kGroup + k;
      const V4 v = load(x_ + i) + up, q = search::clamp(search::nearest(v * by), V4{}, top), off = v - q * step;
      error += load(w_ + i) * off * off;
      search::store_bytes(q_out + k, q);
    }
    return sum(error);
  }

  float round_all(AffineBlock& b) const {
    const float d = f32_from_f16(b.d), dmin = f32_from_f16(b.dmin);
    float error = 0;
    for (int g = 0; g < kGroups; ++g)
      error +=
          round_group(g, d * static_cast<float>(b.scale[g]), dmin * static_cast<float>(b.min[g]), b.q + g * kGroup);
    return error;
  }

  // d and dmin anew, everything else being as it is: two unknowns, all 256 elements.
  void refit_block(AffineBlock& b) const {
    double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;
    for (int g = 0; g < kGroups; ++g) {
      const Sums s = group_sums(b, g);
      const double scale = b.scale[g], min = b.min[g];
      aa += scale * scale * s.qq, ab -= scale * min * s.q, bb += min * min * s.w;
      ax += scale * s.xq, bx -= min * s.x;
    }
    const double det = aa * bb - ab * ab;
    if (det > 0) {
      const double d = (ax * bb - bx * ab) / det, dmin = (bx * aa - ax * ab) / det;
      if (d > 0 && dmin >= 0)
        b.d = f16_from_f32(static_cast<float>(d)), b.dmin = f16_from_f32(static_cast<float>(dmin));
    } else if (aa > 0 && ax > 0) {
      b.d = f16_from_f32(static_cast<float>(ax / aa));
    }
  }

  // Each group's codes anew, for the integers that it has: the scale next to its best one, below and above, each with
  // the minimum that is then the best. Returns the block's weighted error.
  float improve_groups(AffineBlock& b) const {
    const float d = f32_from_f16(b.d), dmin = f32_from_f16(b.dmin);
    const float inverse = inverse_or_zero(d), inverse_min = inverse_or_zero(dmin);
    float total = 0;
    for (int g = 0; g < kGroups; ++g) {
      uint8_t* q = b.q + g * kGroup;
      float least = round_group(g, d * static_cast<float>(b.scale[g]), dmin * static_cast<float>(b.min[g]), q);
      const Sums s = group_sums(b, g);
      const float det = s.w * s.qq - s.q * s.q;
      const bool is_free = det > 0 && s.x * s.qq < s.q * s.xq;  // the best minimum is above 0
      const float best = is_free ? (s.w * s.xq - s.x * s.q) / det : (s.qq > 0 ? s.xq / s.qq : 0);
      const int below = whole(std::floor(best * inverse), 0, kCodeTop);
      for (int code = below; code <= below + 1 && code <= kCodeTop; ++code) {
        const float scale = d * static_cast<float>(code);
        const int min = whole((scale * s.q - s.x) / s.w * inverse_min, 0, kCodeTop);
        uint8_t trial[kGroup];
        const float error = round_group(g, scale, dmin * static_cast<float>(min), trial);
        if (!(error < least)) continue;
        least = error;
        b.scale[g] = static_cast<uint8_t>(code), b.min[g] = static_cast<uint8_t>(min);
        std::copy(trial, trial + kGroup, q);
      }
      total += least;
    }
    return total;
  }

  struct Sums {
    float w = 0, x = 0, q = 0, qq = 0, xq = 0;
  };
  Sums group_sums(const AffineBlock& b, int g) const {
    V4 sw{}, sx{}, sq{}, sqq{}, sxq{};
    for (int i = g * kGroup; i < (g + 1) * kGroup; i += 4) {
      const V4 w = load(w_ + i), v = load(x_ + i);
      const V4 q = search::load_bytes(b.q + i);
      const V4 wq = w * q;
      sw += w, sx += w * v, sq += wq, sqq += wq * q, sxq += wq * v;
    }
    return {.w = sum(sw), .x = sum(sx), .q = sum(sq), .qq = sum(sqq), .xq = sum(sxq)};
  }

  const float* x_;
  alignas(16) float w_[kElems];
};

// ---- without
// ---------------------------------------------------------------------------------------------------------

template <int kGroup, int kCodeLow, class Values>
class ScaledSearch {
 public:
  static constexpr int kGroups = kElems / kGroup;

  ScaledSearch(const float* x, const float* importance, const Values& values) : x_(x), values_(values) {
    search::weigh(x, importance, kElems, w_);
  }

  ScaledBlock run(const ScaleGrid& grid, int n_rounds) {
    float scale[kGroups];
    for (int g = 0; g < kGroups; ++g)
      scale[g] = search::search_scale<kGroup>(x_ + g * kGroup, w_ + g * kGroup, values_, grid).scale;
    const float largest =
        *std::max_element(scale, scale + kGroups, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    ScaledBlock best;
    best.d = f16_from_f32(largest / kCodeLow);  // the low end of the codes reaches farthest
    choose_codes(best, scale);
    float least = round_all(best);
    for (int r = 0; r < n_rounds; ++r) {
      ScaledBlock next = best;
      refit_block(next);
      const float error = improve_groups(next);
      if (!(error < least)) break;
      least = error;
      best = next;
    }
    return best;
  }

 private:
  static void choose_codes(ScaledBlock& b, const float* scale) {
    const float inverse = inverse_or_zero(f32_from_f16(b.d));
    for (int g = 0; g < kGroups; ++g)
      b.scale[g] = static_cast<int8_t>(whole(scale[g] * inverse, kCodeLow, -kCodeLow - 1));
  }

  float round_group(int g, float scale, int8_t* q_out) const {
    const V4 by = splat(inverse_or_zero(scale)), step = splat(scale);
    V4 error{};
    for (int k = 0; k < kGroup; k += 4) {
      const int i = g * kGroup + k;
      const V4 v = load(x_ + i), q = values_(v * by), off = v - q * step;
      error += load(w_ + i) * off * off;
      search::store_bytes(q_out + k, q);
    }
    return sum(error);
  }

  float round_all(ScaledBlock& b) const {
    const float d = f32_from_f16(b.d);
    float error = 0;
    for (int g = 0; g < kGroups; ++g) error += round_group(g, d * static_cast<float>(b.scale[g]), b.q + g * kGroup);
    return error;
  }

  struct Sums {
    float qq = 0, xq = 0;
  };
  Sums group_sums(const int8_t* q, int g) const {
    V4 sqq{}, sxq{};
    for (int k = 0; k < kGroup; k += 4) {
      const int i = g * kGroup + k;
      const V4 v = search::load_bytes(q + k);
      const V4 wq = load(w_ + i) * v;
      sqq += wq * v, sxq += wq * load(x_ + i);
    }
    return {.qq = sum(sqq), .xq = sum(sxq)};
  }

  // d anew for all 256 elements as they are.
  void refit_block(ScaledBlock& b) const {
    double up = 0, down = 0;
    for (int g = 0; g < kGroups; ++g) {
      const Sums s = group_sums(b.q + g * kGroup, g);
      const double code = b.scale[g];
      up += code * s.xq, down += code * code * s.qq;
    }
    if (down > 0 && up != 0) b.d = f16_from_f32(static_cast<float>(up / down));
  }

  // Each group's code anew: those next to its best scale, below and above. Returns the block's weighted error.
  float improve_groups(ScaledBlock& b) const {
    const float d = f32_from_f16(b.d), inverse = inverse_or_zero(d);
    float total = 0;
    for (int g = 0; g < kGroups; ++g) {
      int8_t* q = b.q + g * kGroup;
      float least = round_group(g, d * static_cast<float>(b.scale[g]), q);
      const Sums s = group_sums(q, g);
      const int below = s.qq > 0 ? whole(std::floor(s.xq / s.qq * inverse), kCodeLow, -kCodeLow - 1) : 0;
      for (int code = below; code <= below + 1 && code < -kCodeLow; ++code) {
        int8_t trial[kGroup];
        const float error = round_group(g, d * static_cast<float>(code), trial);
        if (!(error < least)) continue;
        least = error;
        b.scale[g] = static_cast<int8_t>(code);
        std::copy(trial, trial + kGroup, q);
      }
      total += least;
    }
    return total;
  }

  const float* x_;
  const Values& values_;
  alignas(16) float w_[kElems];
};

template <class Block>
Block damaged() {
  Block b;
  b.d = kNanF16;
  b.scale[0] = 1;
  return b;
}

}  // namespace

AffineBlock fit_q2_k(const float* x, const float* importance) {
  if (!all_finite(x)) return damaged<AffineBlock>();
  return AffineSearch<16, 3, 15>(x, importance).run({.low = -0.6f, .step = 0.15f, .n = 10, .n_refine = 2}, 2);
}

AffineBlock fit_q4_k(const float* x, const float* importance) {
  if (!all_finite(x)) return damaged<AffineBlock>();
  return AffineSearch<32, 15, 63>(x, importance).run({.low = -0.9f, .step = 0.15f, .n = 12, .n_refine = 1}, 1);
}

AffineBlock fit_q5_k(const float* x, const float* importance) {
  if (!all_finite(x)) return damaged<AffineBlock>();
  return AffineSearch<32, 31, 63>(x, importance).run({.low = -0.9f, .step = 0.2f, .n = 9, .n_refine = 1}, 1);
}

ScaledBlock fit_q3_k(const float* x, const float* importance) {
  if (!all_finite(x)) return damaged<ScaledBlock>();
  const Integers values{.lo = -4, .hi = 3};
  return ScaledSearch<16, -32, Integers>(x, importance, values)
      .run({.low = -4.8f, .step = 0.2f, .n = 11, .n_mirrored = 0, .n_refine = 2}, 2);
}

ScaledBlock fit_q6_k(const float* x, const float* importance) {
  if (!all_finite(x)) return damaged<ScaledBlock>();
  const Integers values{.lo = -32, .hi = 31};
  return ScaledSearch<16, -128, Integers>(x, importance, values)
      .run({.low = -32.9f, .step = 0.2f, .n = 10, .n_mirrored = 0, .n_refine = 1}, 1);
}

ScaledBlock fit_iq4_xs(const float* x, const float* importance) {
  if (!all_finite(x)) return damaged<ScaledBlock>();
  static const search::Iq4Values values;
  return ScaledSearch<32, -32, search::Iq4Values>(x, importance, values)
      .run({.low = -134.0f, .step = 2.0f, .n = 8, .n_mirrored = 0, .n_refine = 1}, 1);
}

}  // namespace ridge::quant
