// The MatMul verb over panels: activations are packed once, by all workers together; then panels are dealt out.
#include "backend/cpu/matmul/panel_matmul.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace ridge::cpu {
namespace {

// Up to here a panel meets all columns while it is in L1; beyond, a group of panels in L2 meets one set of columns
// after the other, kChunkBlocks at a time, so that a set of 12 columns (20 KB a chunk) stays in L1 for the whole group.
constexpr int32_t kFewPanelColumns = 16;
constexpr int64_t kChunkBlocks = 32;
constexpr int64_t kMaxPanelGroup = 8;

struct Batch {
  const int32_t* packed;
  int32_t first, n;  // rows of x
};

// f(first column, columns) for each kernel call over n columns.
template <class F>
void each_width(int32_t n, F f) {
  for (int32_t c = 0; c < n;) {
    const int32_t cols = std::min(panel_width(n - c), n - c);
    f(c, cols);
    c += cols;
  }
}

void multiply_one(const Step& s, const PanelMatrix& m, const verb::MatMul& v, const Batch& batch, int64_t panel,
                  int32_t c, int32_t cols, int64_t from, int64_t n_blocks) {
  const size_t at = static_cast<size_t>(from / m.shape.blocks) * record_bytes(m.shape);
  const PanelSlice slice = {m.panel(panel) + at, static_cast<int32_t>(n_blocks)};
  const int64_t row = panel * kPanelRows;
  // All sets of columns before this one are full, so they take c columns of words.
  const int32_t* x = batch.packed + (c * m.n_blocks + from * panel_width(cols)) * kPackedWords;
  m.multiply(slice, x, cols, s.row(v.out, batch.first + c) + row, v.out.stride,
             static_cast<int32_t>(std::min<int64_t>(kPanelRows, m.out - row)), from == 0);
}

void multiply_group(const Step& s, const PanelMatrix& m, const verb::MatMul& v, const Batch& batch, int64_t begin,
                    int64_t end) {
  if (batch.n <= kFewPanelColumns) {
    for (int64_t p = begin; p < end; ++p) {
      each_width(batch.n, [&](int32_t c, int32_t cols) { multiply_one(s, m, v, batch, p, c, cols, 0, m.n_blocks); });
    }
  } else {
    for (int64_t from = 0; from < m.n_blocks; from += kChunkBlocks) {
      const int64_t n_blocks = std::min(kChunkBlocks, m.n_blocks - from);
      each_width(batch.n, [&](int32_t c, int32_t cols) {
        for (int64_t p = begin; p < end; ++p) multiply_one(s, m, v, batch, p, c, cols, from, n_blocks);
      });
    }
  }
  if (v.bias == nullptr) return;
  const int64_t row = begin * kPanelRows, n = std::min(m.out, end * kPanelRows) - row;
  const float* bias = floats_of(*v.bias) + row;
  for (int32_t c = 0; c < batch.n; ++c) {
    float* y = s.row(v.out, batch.first + c) + row;
    s.kernels->map.add(y, bias, 1.0f, y, n);
  }
}

}  // namespace

size_t packed_bytes(int64_t arena_floats) {
  // A word for 32 / 13 elements, and columns padded to at most 1.2 times as many: less than the arena itself.
  // So the columns of any step fit, or the buffer is the largest there is and holds 12 of the longest rows.
  const size_t arena = static_cast<size_t>(arena_floats) * sizeof(float);
  return std::clamp<size_t>(arena, 4096, kMaxPackedBytes);
}

bool packs_at_once(const Step& s, const verb::MatMul& v) {
  // Padding is one column at most.
  return (int64_t{v.x.rows} + 1) * (v.x.cols / kPanelBlock) * kPackedWords <= s.packed_words;
}

void multiply_panels(const Step& s, const Worker& w, const PanelMatrix& m, const verb::MatMul& v) {
  const int64_t words = m.n_blocks * kPackedWords;
  const int32_t n = v.x.rows;
  const int32_t most =
      packs_at_once(s, v) ? n : static_cast<int32_t>(s.packed_words / words) / kMaxPanelColumns * kMaxPanelColumns;
  assert(most > 0 || n == 0);
  const int64_t wanted = m.n_panels / (int64_t{w.n} * 6), group = std::clamp<int64_t>(wanted, 1, kMaxPanelGroup);
  const int64_t n_items = (m.n_panels + group - 1) / group;
  int64_t item = -1, batch_begin = 0;
  for (int32_t first = 0; first < n; first += most, batch_begin += n_items) {
    const Batch batch = {s.packed, first, std::min(most, n - first)};
    if (!s.packed_is_current) {
      if (first > 0) w.pool->barrier();
      const auto [begin, end] = w.share(m.n_blocks);
      each_width(batch.n, [&](int32_t c, int32_t cols) {
        s.kernels->panels.pack_columns(s.row(v.x, first + c), v.x.stride, cols, panel_width(cols), begin, end,
                                       s.packed + c * words);
      });
      w.pool->barrier();
    }
    if (item < 0) item = w.take();
    for (; item < batch_begin + n_items; item = w.take()) {
      const int64_t from = (item - batch_begin) * group;
      multiply_group(s, m, v, batch, from, std::min(m.n_panels, from + group));
    }
  }
}

}  // namespace ridge::cpu
