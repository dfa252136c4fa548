// The ExpertMatMul and ExpertCombine verbs. Rows are grouped by expert, so that an expert's weights are unpacked once
// for all rows that chose it.
#include <array>

#include "backend/cpu/matmul/multiply.h"

namespace ridge::cpu {
namespace {

// Rows gathered for one pass over an expert's weights; more choose again.
constexpr int32_t kMaxGroup = 1024;

// Elements [begin, end) of row `mat` of a bias matrix; `buffer` holds end - begin + 2 blocks.
const float* bias_part(const Step& s, const Weight& bias, int64_t mat, int64_t begin, int64_t end, float* buffer) {
  const std::byte* row = bias.host.row(mat);
  if (bias.dtype() == DType::f32) return reinterpret_cast<const float*>(row) + begin;
  const int64_t block = info(bias.dtype()).block_elems, from = begin / block * block;
  const int64_t to = std::min((end + block - 1) / block * block, bias.in);
  Unpacker(*s.kernels, bias.dtype())(row + row_bytes(bias.dtype(), from), to - from, buffer);
  return buffer + (begin - from);
}

// The rows of `out` from `from` on that chose `expert`, at most kMaxGroup; sets `from` to where to go on.
int32_t gather_group(const int32_t* ids, int32_t n_ids, int32_t expert, int32_t* from,
                     std::array<int32_t, kMaxGroup>& group) {
  int32_t n = 0, r = *from;
  for (; r < n_ids && n < kMaxGroup; ++r) {
    if (ids[r] == expert) group[static_cast<size_t>(n++)] = r;
  }
  *from = r;
  return n;
}

}  // namespace

void run_verb(const Step& s, const Worker& w, const verb::ExpertMatMul& v) {
  const int32_t n_used = v.ids.cols, n_rows = v.out.rows;
  const bool own_row = v.x.rows == n_rows;
  const int64_t out = v.w->out, step = rows_per_item(out, w.n, 1), per_expert = (out + step - 1) / step;
  const int32_t* ids = s.row(v.ids, 0);
  const Unpacker unpack(*s.kernels, v.w->dtype());
  std::array<int32_t, kMaxGroup> group;
  for (int64_t item = w.take(); item < per_expert * v.w->n_mats; item = w.take()) {
    const int64_t expert = item / per_expert, begin = item % per_expert * step, end = std::min(out, begin + step);
    const PackedMatrix m(*v.w, expert);
    for (int32_t from = 0; from < n_rows;) {
      const int32_t n = gather_group(ids, n_rows, static_cast<int32_t>(expert), &from, group);
      if (n == 0) break;
      const auto column = [&](int32_t c) {
        const int32_t r = group[static_cast<size_t>(c)];
        return Column{s.row(v.x, own_row ? r : r / n_used), s.row(v.out, r)};
      };
      multiply_rows(s, w.scratch, m, unpack, begin, end, n, column);
      if (v.bias == nullptr) continue;
      const float* bias = bias_part(s, *v.bias, expert, begin, end, w.scratch);
      for (int32_t c = 0; c < n; ++c) {
        float* y = column(c).y + begin;
        s.kernels->map.add(y, bias, 1.0f, y, end - begin);
      }
    }
  }
}

void run_verb(const Step& s, const Worker& w, const verb::ExpertCombine& v) {
  const int32_t n_used = v.weights.cols;
  const auto [begin, end] = w.share(v.out.rows);
  for (int64_t r = begin; r < end; ++r) {
    const float* weights = s.row(v.weights, r);
    float* out = s.row(v.out, r);
    s.kernels->map.scale(s.row(v.x, r * n_used), weights[0], out, v.out.cols);
    for (int32_t j = 1; j < n_used; ++j)
      s.kernels->map.add(out, s.row(v.x, r * n_used + j), weights[j], out, v.out.cols);
  }
}

}  // namespace ridge::cpu
