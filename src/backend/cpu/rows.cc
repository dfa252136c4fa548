// The verbs that move rows: Embed and GatherRows; and the row unpacker that others share.
#include <cstring>

#include "backend/cpu/dispatch.h"
#include "backend/cpu/step.h"

namespace ridge::cpu {

Unpacker::Unpacker(const KernelSet& kernels, DType type)
    : kernels_(format_kernels(kernels, type)), decode_(quant::find_format(type)->decode) {}

void run_verb(const Step& s, const Worker& w, const verb::Embed& v) {
  const Unpacker unpack(*s.kernels, v.table->dtype());
  const auto [begin, end] = w.share(v.out.rows);
  for (int64_t r = begin; r < end; ++r) {
    float* out = s.row(v.out, r);
    unpack(v.table->host.row(s.program->input.tokens[static_cast<size_t>(r)]), v.out.cols, out);
    if (v.scale != 1.0f) s.kernels->map.scale(out, v.scale, out, v.out.cols);
  }
}

void run_verb(const Step& s, const Worker& w, const verb::GatherRows& v) {
  const auto [begin, end] = w.share(v.out.rows);
  for (int64_t r = begin; r < end; ++r) {
    std::memcpy(s.row(v.out, r), s.row(v.x, s.program->input.out_rows[static_cast<size_t>(r)]),
                static_cast<size_t>(v.out.cols) * sizeof(float));
  }
}

}  // namespace ridge::cpu
