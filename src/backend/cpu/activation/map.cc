// The element-by-element verbs. Rows are cut into segments, so that one long row keeps all workers busy too.
#include <algorithm>

#include "backend/cpu/step.h"

namespace ridge::cpu {
namespace {

// 4 KiB: enough that calling the kernel costs nothing, few enough elements to share one row of a large model.
constexpr int64_t kSegment = 1024;

// f(row, first column, n columns) over this worker's segments.
template <class F>
void for_segments(const Worker& w, const Act& a, F&& f) {
  const int64_t per_row = (a.cols + kSegment - 1) / kSegment;
  const auto [begin, end] = w.share(a.rows * per_row);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = i % per_row * kSegment;
    f(i / per_row, at, std::min(kSegment, a.cols - at));
  }
}

using Map1 = void (*)(const float*, float*, int64_t);

Map1 kernel_of(const MapKernels& k, ActFn fn) {
  switch (fn) {
    case ActFn::silu:
      return k.silu;
    case ActFn::gelu_tanh:
      return k.gelu_tanh;
    case ActFn::gelu_erf:
      return k.gelu_erf;
    case ActFn::relu:
      return k.relu;
    case ActFn::sigmoid:
      return k.sigmoid;
    case ActFn::swiglu_oai:
      break;
  }
  return nullptr;
}

}  // namespace

void run_verb(const Step& s, const Worker& w, const verb::Add& v) {
  for_segments(w, v.out, [&](int64_t r, int64_t at, int64_t n) {
    s.kernels->map.add(s.row(v.a, r) + at, s.row(v.b, r) + at, v.scale, s.row(v.out, r) + at, n);
  });
}

void run_verb(const Step& s, const Worker& w, const verb::Mul& v) {
  for_segments(w, v.out, [&](int64_t r, int64_t at, int64_t n) {
    if (v.b.cols == 1 && v.a.cols != 1)
      s.kernels->map.scale(s.row(v.a, r) + at, *s.row(v.b, r), s.row(v.out, r) + at, n);
    else
      s.kernels->map.mul(s.row(v.a, r) + at, s.row(v.b, r) + at, s.row(v.out, r) + at, n);
  });
}

void run_verb(const Step& s, const Worker& w, const verb::Scale& v) {
  for_segments(w, v.out, [&](int64_t r, int64_t at, int64_t n) {
    s.kernels->map.scale(s.row(v.x, r) + at, v.factor, s.row(v.out, r) + at, n);
  });
}

void run_verb(const Step& s, const Worker& w, const verb::Softcap& v) {
  for_segments(w, v.out, [&](int64_t r, int64_t at, int64_t n) {
    s.kernels->map.softcap(s.row(v.x, r) + at, v.cap, s.row(v.out, r) + at, n);
  });
}

void run_verb(const Step& s, const Worker& w, const verb::Activate& v) {
  const Map1 kernel = kernel_of(s.kernels->map, v.fn);
  for_segments(w, v.out,
               [&](int64_t r, int64_t at, int64_t n) { kernel(s.row(v.x, r) + at, s.row(v.out, r) + at, n); });
}

void run_verb(const Step& s, const Worker& w, const verb::Gated& v) {
  const MapKernels& k = s.kernels->map;
  const Map1 kernel = kernel_of(k, v.fn);
  for_segments(w, v.out, [&](int64_t r, int64_t at, int64_t n) {
    const float* gate = s.row(v.gate, r) + at;
    const float* up = s.row(v.up, r) + at;
    float* out = s.row(v.out, r) + at;
    if (kernel == nullptr) {
      k.swiglu_oai(gate, up, v.alpha, v.limit, out, n);
      return;
    }
    // By way of the scratch, because out may be up.
    kernel(gate, w.scratch, n);
    k.mul(w.scratch, up, out, n);
  });
}

}  // namespace ridge::cpu
