// The two halves of a softmax step over one block of 32 cached positions; included after one of the vec_*.h. The
// products q.k come from the matmul tile.
#pragma once

#include "backend/cpu/kernel_set.h"
#include "backend/cpu/simd/math.h"

namespace ridge::cpu {
namespace {

constexpr int32_t kBlock = 32;

// Scores outside the visible range become minus infinity, whose exponential is exactly zero: what lies there (other
// sequences' future, stale memory) cannot be seen in the result.
float softmax_block(float* scores, int32_t begin, int32_t end, ScoreRule rule, SoftmaxState* state) {
  const V scale = set1(rule.scale);
  for (int32_t j = 0; j < kBlock; j += kLanes) {
    V s = mul(load(scores + j), scale);
    if (rule.softcap > 0.0f) s = mul(set1(rule.softcap), tanh_of(div(s, set1(rule.softcap))));
    store(scores + j, s);
  }
  for (int32_t j = 0; j < begin; ++j) scores[j] = -__builtin_inff();
  for (int32_t j = end; j < kBlock; ++j) scores[j] = -__builtin_inff();
  V largest = load(scores);
  for (int32_t j = kLanes; j < kBlock; j += kLanes) largest = max_of(largest, load(scores + j));
  const float block_max = max_lane(largest);
  const float m = block_max > state->m ? block_max : state->m;
  V sum = zero();
  for (int32_t j = 0; j < kBlock; j += kLanes) {
    const V p = exp_of(sub(load(scores + j), set1(m)));
    store(scores + j, p);
    sum = add(sum, p);
  }
  float decay[kLanes];
  store(decay, exp_of(set1(state->m - m)));
  state->l = state->l * decay[0] + sum_lanes(sum);
  state->m = m;
  return decay[0];
}

// kRows rows of sums times kVecs vectors of the value's dimensions, in registers. kPart: one partial vector of `rest`
// dimensions.
template <int kRows, int kVecs, bool kPart>
RIDGE_INLINE void add_values_tile(const float* p, const float* decay, const float* v, int64_t v_stride, int32_t begin,
                                  int32_t end, int32_t v_dim, float* acc, int rest) {
  V sum[kRows][kVecs];
  for (int r = 0; r < kRows; ++r) {
    for (int d = 0; d < kVecs; ++d) {
      const float* a = acc + r * static_cast<int64_t>(v_dim) + d * kLanes;
      sum[r][d] = mul(kPart ? load_n(a, rest) : load(a), set1(decay[r]));
    }
  }
  for (int32_t j = begin; j < end; ++j) {
    V value[kVecs];
    for (int d = 0; d < kVecs; ++d)
      value[d] = kPart ? load_n(v + j * v_stride, rest) : load(v + j * v_stride + d * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const V weight = set1(p[r * kBlock + j]);
      for (int d = 0; d < kVecs; ++d) sum[r][d] = fma(weight, value[d], sum[r][d]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int d = 0; d < kVecs; ++d) {
      float* a = acc + r * static_cast<int64_t>(v_dim) + d * kLanes;
      if (kPart)
        store_n(a, sum[r][d], rest);
      else
        store(a, sum[r][d]);
    }
  }
}

template <int kRows>
void add_values_rows(const float* p, const float* decay, const float* v, int64_t v_stride, int32_t begin, int32_t end,
                     int32_t v_dim, float* acc) {
  int32_t d = 0;
  for (; d + kValueVecs * kLanes <= v_dim; d += kValueVecs * kLanes) {
    add_values_tile<kRows, kValueVecs, false>(p, decay, v + d, v_stride, begin, end, v_dim, acc + d, 0);
  }
  for (; d + kLanes <= v_dim; d += kLanes)
    add_values_tile<kRows, 1, false>(p, decay, v + d, v_stride, begin, end, v_dim, acc + d, 0);
  if (d < v_dim) add_values_tile<kRows, 1, true>(p, decay, v + d, v_stride, begin, end, v_dim, acc + d, v_dim - d);
}

void add_values(const float* p, const float* decay, int32_t rows, const float* v, int64_t v_stride, int32_t begin,
                int32_t end, int32_t v_dim, float* acc) {
  int32_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    add_values_rows<4>(p + r * kBlock, decay + r, v, v_stride, begin, end, v_dim,
                       acc + r * static_cast<int64_t>(v_dim));
  }
  for (; r < rows; ++r) {
    add_values_rows<1>(p + r * kBlock, decay + r, v, v_stride, begin, end, v_dim,
                       acc + r * static_cast<int64_t>(v_dim));
  }
}

}  // namespace
}  // namespace ridge::cpu
