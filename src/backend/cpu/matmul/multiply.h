// Some rows of a packed matrix times any set of columns: what MatMul and ExpertMatMul share.
#pragma once

#include <algorithm>

#include "backend/cpu/step.h"

namespace ridge::cpu {

// A matrix of packed rows, and how to read it.
struct PackedMatrix {
  const std::byte* data;
  DType type;
  int64_t in;
  size_t row_size;

  PackedMatrix(const Weight& w, int64_t mat) : type(w.dtype()), in(w.in), row_size(row_bytes(w.dtype(), w.in)) {
    data = w.host.data + static_cast<size_t>(mat * w.out) * row_size;
  }
  const std::byte* row(int64_t r) const { return data + static_cast<size_t>(r) * row_size; }
  // Element k of row r; k is a multiple of the block.
  const std::byte* at(int64_t r, int64_t k) const { return row(r) + row_bytes(type, k); }
};

// One column: where its activations begin, where its results (of row 0) go.
struct Column {
  const float* x;
  float* y;
};

// Up to this many columns the four rows of the innermost tile are unpacked at a time and stay in L1; beyond, 32 rows
// fill half of a small L2, so that the columns are read from far away an eighth as often.
inline constexpr int32_t kFewColumns = 8;
inline constexpr int32_t kColumnBatch = 48;  // pointers gathered at a time; a multiple of every tile's width

inline void prefetch_after(const std::byte* chunk, size_t n_bytes) {
  for (size_t at = 0; at < n_bytes; at += 64) __builtin_prefetch(chunk + n_bytes + at);
}

// y[c][r] for r in [begin, end). column(c) gives the Column of c < cols.
template <class ColumnAt>
void multiply_rows(const Step& s, float* scratch, const PackedMatrix& m, const Unpacker& unpack, int64_t begin,
                   int64_t end, int32_t cols, const ColumnAt& column) {
  if (cols == 1 && unpack.kernels() != nullptr) {
    const Column c = column(0);
    const PackedRows rows = {reinterpret_cast<const uint8_t*>(m.row(begin)), static_cast<int64_t>(m.row_size),
                             static_cast<int32_t>(end - begin)};
    unpack.kernels()->dot(rows, m.in, c.x, c.y + begin);
    return;
  }
  const int32_t group = cols <= kFewColumns ? 4 : kUnpackRows;
  for (int64_t r = begin; r < end; r += group) {
    const int32_t rows = static_cast<int32_t>(std::min<int64_t>(group, end - r));
    for (int64_t k = 0; k < m.in; k += kSumChunk) {
      const int32_t n = static_cast<int32_t>(std::min<int64_t>(kSumChunk, m.in - k));
      RowTile tile = {scratch, kUnpackStride, rows};
      if (m.type == DType::f32) {
        tile = {reinterpret_cast<const float*>(m.at(r, k)), m.in, rows};
      } else {
        for (int32_t i = 0; i < rows; ++i) {
          prefetch_after(m.at(r + i, k), row_bytes(m.type, n));
          unpack(m.at(r + i, k), n, scratch + i * kUnpackStride);
        }
      }
      const float* x[kColumnBatch];
      float* y[kColumnBatch];
      for (int32_t at = 0; at < cols; at += kColumnBatch) {
        const int32_t batch = std::min(kColumnBatch, cols - at);
        for (int32_t c = 0; c < batch; ++c) {
          const Column col = column(at + c);
          x[c] = col.x + k;
          y[c] = col.y + r;
        }
        s.kernels->matmul.tile(tile, n, x, y, batch, k == 0);
      }
    }
  }
}

// How many rows of a matrix a worker takes at a time: enough items that the last ones even out, not so few rows that
// the tile starves.
inline int64_t rows_per_item(int64_t out, int n_workers, int32_t cols) {
  const int64_t wanted = (out / (int64_t{n_workers} * 4) + 3) / 4 * 4;
  return std::clamp<int64_t>(wanted, 4, cols <= kFewColumns ? 256 : kUnpackRows);
}

}  // namespace ridge::cpu
