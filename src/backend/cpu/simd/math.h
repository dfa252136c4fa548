// exp, tanh, the logistic function and the normal distribution on vectors, for kernel bodies; included after one of the
// vec_*.h. exp: Cody-Waite reduction and the Taylor polynomial of degree 7 on [-ln 2 / 2, ln 2 / 2] (remainder 5e-9
// relative); within 1.01 ulp of the true value over all floats, subnormal results included; NaN stays NaN. The others
// follow from it.
#pragma once

namespace ridge::cpu {
namespace {

RIDGE_INLINE V exp_of(V x) {
  // Past these the result is infinity or zero whatever the exact value; the bounds keep 2^n in two factors.
  x = min_of(set1(104.0f), max_of(set1(-104.0f), x));
  const V n = round_even(mul(x, set1(1.44269504f)));
  // ln 2 in two parts; n times the first is exact (8 bits times 10).
  const V r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), x));
  V p = fma(r, set1(1.0f / 5040), set1(1.0f / 720));
  p = fma(r, p, set1(1.0f / 120));
  p = fma(r, p, set1(1.0f / 24));
  p = fma(r, p, set1(1.0f / 6));
  p = fma(r, p, set1(0.5f));
  p = fma(mul(r, r), p, r);
  p = add(p, set1(1.0f));
  const V half = round_even(mul(n, set1(0.5f)));
  return mul(mul(p, pow2(half)), pow2(sub(n, half)));
}

RIDGE_INLINE V sigmoid_of(V x) {
  return div(set1(1.0f), add(set1(1.0f), exp_of(sub(zero(), x))));
}

// Near zero 1 - 2 / (e^2x + 1) would cancel; there an odd polynomial, fitted for |x| < 0.625 (relative error below
// 2e-8).
RIDGE_INLINE V tanh_of(V x) {
  const V a = abs_of(x), x2 = mul(x, x);
  V p = fma(x2, set1(-0.00609671416f), set1(0.020997179f));
  p = fma(x2, p, set1(-0.0538509096f));
  p = fma(x2, p, set1(0.133327697f));
  p = fma(x2, p, set1(-0.333333289f));
  const V near_zero = fma(mul(x, x2), p, x);
  const V far = sub(set1(1.0f), div(set1(2.0f), add(exp_of(add(a, a)), set1(1.0f))));
  return if_less(a, set1(0.625f), near_zero, copy_sign(far, x));
}

// The normal distribution function, erfc(-x / sqrt 2) / 2, by Abramowitz and Stegun 7.1.26: absolute error at most
// 1e-7, about one ulp of the values near 1. The tail is formed without subtracting from one, so it keeps its relative
// accuracy longer.
RIDGE_INLINE V normal_cdf_of(V x) {
  const V a = mul(abs_of(x), set1(0.707106781f));
  const V t = div(set1(1.0f), fma(a, set1(0.3275911f), set1(1.0f)));
  V p = fma(t, set1(1.061405429f), set1(-1.453152027f));
  p = fma(t, p, set1(1.421413741f));
  p = fma(t, p, set1(-0.284496736f));
  p = fma(t, p, set1(0.254829592f));
  const V tail = mul(mul(set1(0.5f), mul(t, p)), exp_of(sub(zero(), mul(a, a))));
  return if_less(x, zero(), tail, sub(set1(1.0f), tail));
}

}  // namespace
}  // namespace ridge::cpu
