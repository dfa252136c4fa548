// The RmsNorm verb: groups of columns, each on its own.
#include "backend/cpu/step.h"

namespace ridge::cpu {

void run_verb(const Step& s, const Worker& w, const verb::RmsNorm& v) {
  const float* weight = v.w != nullptr ? floats_of(*v.w) : nullptr;
  const int32_t groups = v.x.cols / v.group;
  const auto [begin, end] = w.share(int64_t{v.x.rows} * groups);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = i % groups * v.group;
    s.kernels->norm.rms_norm(s.row(v.x, i / groups) + at, weight, s.row(v.out, i / groups) + at, v.group, v.eps);
  }
}

}  // namespace ridge::cpu
