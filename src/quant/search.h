// What the encoders of weights search with: least-squares fits of a group of values to integers (or to a table of
// values) at a number of trial scales, the best of which is kept. Vectors of 4 floats that every x86-64 and Arm has, so
// the bytes that are written do not depend on the instruction set. For the .cc files of quant/ only.
//
// A trial scale fixes the integers q; given q the best scale (and offset) is the solution of a weighted least-squares
// problem, and what it explains of sum w x^2 follows from the same three sums: one pass a trial.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ridge::quant::search {

using V4 = float __attribute__((vector_size(16)));

inline V4 splat(float v) {
  return V4{v, v, v, v};
}
inline V4 load(const float* p) {
  V4 v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
inline void store(float* p, V4 v) {
  std::memcpy(p, &v, sizeof(v));
}
// Whole numbers as bytes to p[0..3], and back.
template <class Byte>
void store_bytes(Byte* p, V4 v) {
  using I4 = int32_t __attribute__((vector_size(16)));
  const I4 n = __builtin_convertvector(v, I4);
  for (int k = 0; k < 4; ++k) p[k] = static_cast<Byte>(n[k]);
}
template <class Byte>
V4 load_bytes(const Byte* p) {
  return V4{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]), static_cast<float>(p[3])};
}
inline float sum(V4 v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}
// To the nearest integer, ties to even, for |v| < 2^22.
inline V4 nearest(V4 v) {
  const V4 big = splat(12582912.0f);
  return (v + big) - big;
}
// NaN gives lo.
inline V4 clamp(V4 v, V4 lo, V4 hi) {
  const V4 low = v > lo ? v : lo;
  return low < hi ? low : hi;
}

// Weights: importance (1 where there is none) times sqrt(sigma^2 + x^2), which spares the large values as ggml's
// encoders do. sigma^2 is the mean square of all n values, a multiple of 4.
inline void weigh(const float* x, const float* importance, int n, float* w) {
  V4 squares{};
  for (int i = 0; i < n; i += 4) squares += load(x + i) * load(x + i);
  const float sigma2 = sum(squares) / static_cast<float>(n);
  for (int i = 0; i < n; ++i) w[i] = std::sqrt(sigma2 + x[i] * x[i]);
  if (importance == nullptr) return;
  for (int i = 0; i < n; i += 4) store(w + i, load(w + i) * load(importance + i));
}

struct Moments {
  float w = 0, wx = 0, wxx = 0;
  float min = 0, max = 0, farthest = 0;
};
template <int N>
Moments moments(const float* x, const float* w) {
  V4 sw{}, swx{}, swxx{}, lo = load(x), hi = lo;
  for (int i = 0; i < N; i += 4) {
    const V4 v = load(x + i), wv = load(w + i) * v;
    sw += load(w + i), swx += wv, swxx += wv * v;
    lo = v < lo ? v : lo;
    hi = v > hi ? v : hi;
  }
  Moments m{.w = sum(sw), .wx = sum(swx), .wxx = sum(swxx), .min = lo[0], .max = hi[0]};
  for (int i = 1; i < 4; ++i) {
    m.min = lo[i] < m.min ? lo[i] : m.min;
    m.max = hi[i] > m.max ? hi[i] : m.max;
  }
  m.farthest = -m.min > m.max ? m.min : m.max;
  return m;
}

// x = scale * q + offset.
struct Affine {
  float scale = 0, offset = 0;
  float gain = 0;  // the part of sum w x^2 that it explains
};

// One trial: integers 0..top at `inverse` from `origin`. kBelow: the offset may not be above 0.
template <int N, bool kBelow>
Affine try_affine(const float* x, const float* w, const Moments& m, float origin, float inverse, float top) {
  const V4 from = splat(origin), by = splat(inverse), zero{}, last = splat(top);
  V4 sq{}, sqq{}, sxq{};
  for (int i = 0; i < N; i += 4) {
    const V4 v = load(x + i), q = clamp(nearest((v - from) * by), zero, last), wq = load(w + i) * q;
    sq += wq, sqq += wq * q, sxq += wq * v;
  }
  const float q1 = sum(sq), qq = sum(sqq), xq = sum(sxq), det = m.w * qq - q1 * q1;
  if (!(det > 1e-6f * m.w * qq)) {  // one integer for all: an offset says nothing that the scale does not
    if (!kBelow || !(qq > 0)) return {};
    return {.scale = xq / qq, .gain = xq * (xq / qq)};
  }
  Affine a{.scale = (m.w * xq - m.wx * q1) / det, .offset = (m.wx * qq - q1 * xq) / det};
  if (kBelow && a.offset > 0) a = {.scale = xq / qq};
  a.gain = a.scale * xq + a.offset * m.wx;
  return a;
}

// The best of trials at (top + delta) steps over the range of x, delta from `low` in steps of `step`, and of
// `n_refine` fits that start from the best.
struct AffineGrid {
  float low, step;
  int n, n_refine;
};
template <int N, bool kBelow>
Affine search_affine(const float* x, const float* w, float top, const AffineGrid& grid) {
  const Moments m = moments<N>(x, w);
  const float low = kBelow && m.min > 0 ? 0 : m.min;
  if (!(m.max > low) || !(m.w > 0)) return {.scale = 0, .offset = low};
  // At first a constant, which every trial has to beat: nothing is lost on a group that no trial fits.
  Affine best{.scale = 0, .offset = m.wx / m.w};
  if (kBelow && best.offset > 0) best.offset = 0;
  best.gain = best.offset * m.wx;
  for (int i = 0; i < grid.n; ++i) {
    const float steps = top + grid.low + grid.step * static_cast<float>(i);
    const Affine a = try_affine<N, kBelow>(x, w, m, low, steps / (m.max - low), top);
    if (a.gain > best.gain) best = a;
  }
  for (int i = 0; i < grid.n_refine && best.scale > 0; ++i) {
    const Affine a = try_affine<N, kBelow>(x, w, m, best.offset, 1 / best.scale, top);
    if (!(a.gain > best.gain)) break;
    best = a;
  }
  return best;
}

// x = scale * q, q from a set of values: integers lo..hi, or a table's.
struct Integers {
  float lo, hi;
  V4 operator()(V4 v) const { return clamp(nearest(v), splat(lo), splat(hi)); }
};

struct Scale {
  float scale = 0, gain = 0;
};
template <int N, class Values>
Scale try_scale(const float* x, const float* w, float inverse, const Values& values) {
  const V4 by = splat(inverse);
  V4 sqq{}, sxq{};
  for (int i = 0; i < N; i += 4) {
    const V4 v = load(x + i), q = values(v * by), wq = load(w + i) * q;
    sqq += wq * q, sxq += wq * v;
  }
  const float qq = sum(sqq), xq = sum(sxq);
  if (!(qq > 0)) return {};
  return {.scale = xq / qq, .gain = xq * (xq / qq)};
}

// Trials that put the value of largest magnitude at `low`, `low + step`, ...; then at the same places mirrored where
// `n_mirrored` of them are wanted (the range of a set is often wider on one side).
struct ScaleGrid {
  float low, step;
  int n, n_mirrored, n_refine;
};
template <int N, class Values>
Scale search_scale(const float* x, const float* w, const Values& values, const ScaleGrid& grid) {
  const Moments m = moments<N>(x, w);
  constexpr float kTiny = 1e-30f;  // below this the inverse overflows; the f16 scale would be 0 anyway
  if (!(std::fabs(m.farthest) > kTiny)) return {};
  Scale best;
  const auto consider = [&](float inverse) {
    const Scale s = try_scale<N>(x, w, inverse, values);
    if (!(s.gain > best.gain)) return false;
    best = s;
    return true;
  };
  for (int i = 0; i < grid.n; ++i) consider((grid.low + grid.step * static_cast<float>(i)) / m.farthest);
  for (int i = 0; i < grid.n_mirrored; ++i) consider(-(grid.low + grid.step * static_cast<float>(i)) / m.farthest);
  for (int i = 0; i < grid.n_refine && best.scale != 0; ++i) {
    if (!consider(1 / best.scale)) break;
  }
  return best;
}

}  // namespace ridge::quant::search
