// Views: trivially copyable, never owners, never stored across a step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensor/dtype.h"

namespace ridge {

// A tensor as a file holds it: contiguous, ne[0] fastest (ggml's order; a matrix W of `out x in` has ne = {in, out}).
struct TensorView {
  std::string_view name;
  DType dtype = DType::f32;
  uint32_t n_dims = 0;
  std::array<int64_t, 4> ne = {1, 1, 1, 1};
  const std::byte* data = nullptr;

  int64_t n_elems() const { return ne[0] * ne[1] * ne[2] * ne[3]; }
  int64_t n_rows() const { return ne[1] * ne[2] * ne[3]; }
  size_t n_bytes() const { return row_bytes(dtype, ne[0]) * static_cast<size_t>(n_rows()); }
  const std::byte* row(int64_t i) const { return data + static_cast<size_t>(i) * row_bytes(dtype, ne[0]); }
};

// rows x cols of T; consecutive rows lie `stride` elements apart.
template <class T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0, cols = 0, stride = 0;
  T* row(int64_t i) const { return data + i * stride; }
};

}  // namespace ridge
