// Root-mean-square norm of one row; included after one of the vec_*.h.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

// Squares are summed in f32 over this many elements, the partial sums in double: the error of a row stays near one
// rounding whatever its length.
constexpr int64_t kNormChunk = 256;

double sum_of_squares(const float* x, int64_t n) {
  double total = 0;
  for (int64_t at = 0; at < n; at += kNormChunk) {
    const int64_t end = n - at < kNormChunk ? n : at + kNormChunk;
    V sum = zero();
    int64_t k = at;
    for (; k + kLanes <= end; k += kLanes) {
      const V v = load(x + k);
      sum = fma(v, v, sum);
    }
    if (k < end) {
      const V v = load_n(x + k, static_cast<int>(end - k));
      sum = fma(v, v, sum);
    }
    total += static_cast<double>(sum_lanes(sum));
  }
  return total;
}

void rms_norm(const float* x, const float* w, float* out, int64_t n, float eps) {
  const double mean = sum_of_squares(x, n) / static_cast<double>(n);
  const V inv = set1(static_cast<float>(1.0 / __builtin_sqrt(mean + static_cast<double>(eps))));
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    const V v = mul(load(x + k), inv);
    store(out + k, w != nullptr ? mul(v, load(w + k)) : v);
  }
  if (k < n) {
    const int rest = static_cast<int>(n - k);
    const V v = mul(load_n(x + k, rest), inv);
    store_n(out + k, w != nullptr ? mul(v, load_n(w + k, rest)) : v, rest);
  }
}

}  // namespace
}  // namespace ridge::cpu
