// The MatMul verb: output rows are dealt out in small groups; each is a whole sum, so no group's result depends on
// another.
#include "backend/cpu/matmul/multiply.h"
#include "backend/cpu/matmul/panel_matmul.h"

namespace ridge::cpu {

void run_verb(const Step& s, const Worker& w, const verb::MatMul& v) {
  if (const PanelMatrix* panels = panels_of(*v.w); panels != nullptr) return multiply_panels(s, w, *panels, v);
  const PackedMatrix m(*v.w, 0);
  const Unpacker unpack(*s.kernels, m.type);
  const int64_t out = v.w->out, step = rows_per_item(out, w.n, v.x.rows);
  const float* bias = v.bias != nullptr ? floats_of(*v.bias) : nullptr;
  const auto column = [&](int32_t c) { return Column{s.row(v.x, c), s.row(v.out, c)}; };
  if (v.x.rows == 0) return;
  for (int64_t begin = w.take() * step; begin < out; begin = w.take() * step) {
    const int64_t end = std::min(out, begin + step);
    multiply_rows(s, w.scratch, m, unpack, begin, end, v.x.rows, column);
    if (bias == nullptr) continue;
    for (int32_t c = 0; c < v.x.rows; ++c) {
      float* y = s.row(v.out, c) + begin;
      s.kernels->map.add(y, bias + begin, 1.0f, y, end - begin);
    }
  }
}

}  // namespace ridge::cpu
