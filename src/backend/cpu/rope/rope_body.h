// Rotation of one head by given cosines and sines, both pair layouts; included after one of the vec_*.h.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

// (a, b) -> (a cos - b sin, a sin + b cos), one rounding for each product and sum pair.
RIDGE_INLINE void turn(V* a, V* b, V c, V s) {
  const V a0 = *a, b0 = *b;
  *a = fnma(b0, s, mul(a0, c));
  *b = fma(a0, s, mul(b0, c));
}

void rope_split_halves(float* x, const float* cos, const float* sin, int32_t n_pairs) {
  float* y = x + n_pairs;
  int32_t i = 0;
  for (; i + kLanes <= n_pairs; i += kLanes) {
    V a = load(x + i), b = load(y + i);
    turn(&a, &b, load(cos + i), load(sin + i));
    store(x + i, a);
    store(y + i, b);
  }
  if (i < n_pairs) {
    const int rest = n_pairs - i;
    V a = load_n(x + i, rest), b = load_n(y + i, rest);
    turn(&a, &b, load_n(cos + i, rest), load_n(sin + i, rest));
    store_n(x + i, a, rest);
    store_n(y + i, b, rest);
  }
}

void rope_neighbours(float* x, const float* cos, const float* sin, int32_t n_pairs) {
  int32_t i = 0;
  for (; i + kLanes <= n_pairs; i += kLanes) {
    V a, b;
    load_pairs(x + 2 * i, &a, &b);
    turn(&a, &b, load(cos + i), load(sin + i));
    store_pairs(x + 2 * i, a, b);
  }
  if (i < n_pairs) {
    // The rest goes through a padded copy, so that the same instructions give the same bits.
    float pairs[2 * kLanes] = {};
    const int rest = n_pairs - i;
    for (int j = 0; j < 2 * rest; ++j) pairs[j] = x[2 * i + j];
    V a, b;
    load_pairs(pairs, &a, &b);
    turn(&a, &b, load_n(cos + i, rest), load_n(sin + i, rest));
    store_pairs(pairs, a, b);
    for (int j = 0; j < 2 * rest; ++j) x[2 * i + j] = pairs[j];
  }
}

}  // namespace
}  // namespace ridge::cpu
