// The matrix product of unpacked weight rows and activation columns, for one instruction set; included after one of the
// vec_*.h. kernel_set.h defines the order of the sums.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

// kRows rows of w times kCols columns, all sums in registers. kRows is 1 or kTileRows.
template <int kRows, int kCols>
void small_tile(const float* w, int64_t stride, int32_t n, const float* const* x, float* const* y, int64_t row,
                bool first) {
  V sum[kCols][kRows];
  for (int c = 0; c < kCols; ++c) {
    for (int r = 0; r < kRows; ++r) sum[c][r] = zero();
  }
  int32_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    V a[kCols];
    for (int c = 0; c < kCols; ++c) a[c] = load(x[c] + k);
    for (int r = 0; r < kRows; ++r) {
      const V b = load(w + r * stride + k);
      for (int c = 0; c < kCols; ++c) sum[c][r] = fma(b, a[c], sum[c][r]);
    }
  }
  if (k < n) {
    for (int r = 0; r < kRows; ++r) {
      const V b = load_n(w + r * stride + k, n - k);
      for (int c = 0; c < kCols; ++c) sum[c][r] = fma(b, load_n(x[c] + k, n - k), sum[c][r]);
    }
  }
  for (int c = 0; c < kCols; ++c) {
    float* out = y[c] + row;
    if constexpr (kRows == kTileRows) {
      sum_lanes4(sum[c][0], sum[c][1], sum[c][2], sum[c][3], out, first);
    } else {
      const float s = sum_lanes(sum[c][0]);
      *out = first ? s : *out + s;
    }
  }
}

template <int kCols>
void all_rows(RowTile w, int32_t n, const float* const* x, float* const* y, bool first) {
  static_assert(kTileRows == 4, "sum_lanes4 finishes four rows");
  int32_t r = 0;
  for (; r + kTileRows <= w.rows; r += kTileRows)
    small_tile<kTileRows, kCols>(w.data + r * w.stride, w.stride, n, x, y, r, first);
  for (; r < w.rows; ++r) small_tile<1, kCols>(w.data + r * w.stride, w.stride, n, x, y, r, first);
}

// kCols columns at a time as long as that many are left, then the rest with the next smaller tile.
template <int kCols>
void all_columns(RowTile w, int32_t n, const float* const* x, float* const* y, int32_t cols, bool first) {
  for (; cols >= kCols; cols -= kCols, x += kCols, y += kCols) all_rows<kCols>(w, n, x, y, first);
  if constexpr (kCols > 1) {
    if (cols > 0) all_columns<kCols - 1>(w, n, x, y, cols, first);
  }
}

void tile(RowTile w, int32_t n, const float* const* x, float* const* y, int32_t cols, bool first) {
  all_columns<kTileCols>(w, n, x, y, cols, first);
}

}  // namespace
}  // namespace ridge::cpu
