// Element-by-element kernels; included after one of the vec_*.h. The last, partial vector runs through the same
// instructions as whole ones, so that an element's bits do not depend on where a row was cut.
#pragma once

#include "backend/cpu/kernel_set.h"
#include "backend/cpu/simd/math.h"

namespace ridge::cpu {
namespace {

template <class F>
RIDGE_INLINE void map1(const float* x, float* out, int64_t n, F f) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store(out + k, f(load(x + k)));
  if (k < n) {
    const int rest = static_cast<int>(n - k);
    store_n(out + k, f(load_n(x + k, rest)), rest);
  }
}

template <class F>
RIDGE_INLINE void map2(const float* a, const float* b, float* out, int64_t n, F f) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store(out + k, f(load(a + k), load(b + k)));
  if (k < n) {
    const int rest = static_cast<int>(n - k);
    store_n(out + k, f(load_n(a + k, rest), load_n(b + k, rest)), rest);
  }
}

void map_add(const float* a, const float* b, float scale, float* out, int64_t n) {
  const V s = set1(scale);
  map2(a, b, out, n, [s](V x, V y) RIDGE_INLINE_LAMBDA { return fma(y, s, x); });
}
void map_mul(const float* a, const float* b, float* out, int64_t n) {
  map2(a, b, out, n, [](V x, V y) RIDGE_INLINE_LAMBDA { return mul(x, y); });
}
void map_scale(const float* x, float factor, float* out, int64_t n) {
  const V f = set1(factor);
  map1(x, out, n, [f](V v) RIDGE_INLINE_LAMBDA { return mul(v, f); });
}
void map_softcap(const float* x, float cap, float* out, int64_t n) {
  const V c = set1(cap);
  map1(x, out, n, [c](V v) RIDGE_INLINE_LAMBDA { return mul(c, tanh_of(div(v, c))); });
}
void map_exp(const float* x, float shift, float* out, int64_t n) {
  const V s = set1(shift);
  map1(x, out, n, [s](V v) RIDGE_INLINE_LAMBDA { return exp_of(sub(v, s)); });
}
void map_silu(const float* x, float* out, int64_t n) {
  map1(x, out, n, [](V v) RIDGE_INLINE_LAMBDA { return mul(v, sigmoid_of(v)); });
}
// x (1 + tanh u) / 2 = x sigmoid(2 u), which has no cancellation.
void map_gelu_tanh(const float* x, float* out, int64_t n) {
  map1(x, out, n, [](V v) RIDGE_INLINE_LAMBDA {
    const V inner = fma(mul(mul(v, v), v), set1(0.044715f), v);
    return mul(v, sigmoid_of(mul(inner, set1(1.59576912f))));  // 2 sqrt(2 / pi)
  });
}
void map_gelu_erf(const float* x, float* out, int64_t n) {
  map1(x, out, n, [](V v) RIDGE_INLINE_LAMBDA { return mul(v, normal_cdf_of(v)); });
}
void map_relu(const float* x, float* out, int64_t n) {
  map1(x, out, n, [](V v) RIDGE_INLINE_LAMBDA { return max_of(zero(), v); });
}
void map_sigmoid(const float* x, float* out, int64_t n) {
  map1(x, out, n, [](V v) RIDGE_INLINE_LAMBDA { return sigmoid_of(v); });
}
void map_swiglu_oai(const float* gate, const float* up, float alpha, float limit, float* out, int64_t n) {
  const V a = set1(alpha), top = set1(limit), bottom = set1(-limit);
  map2(gate, up, out, n, [a, top, bottom](V gate_v, V up_v) RIDGE_INLINE_LAMBDA {
    const V g = min_of(top, gate_v), u = max_of(bottom, min_of(top, up_v));
    return mul(mul(g, sigmoid_of(mul(a, g))), add(u, set1(1.0f)));
  });
}

}  // namespace
}  // namespace ridge::cpu
