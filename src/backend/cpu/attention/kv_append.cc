// The KvAppend verb: a step's keys and values into the cache, in the cache's type, bit for bit as quant/ encodes them.
#include <algorithm>
#include <cstring>

#include "backend/cpu/step.h"

namespace ridge::cpu {
namespace {

void encode(const Step& s, DType type, const float* x, std::byte* out, int32_t n) {
  uint8_t* bytes = reinterpret_cast<uint8_t*>(out);
  if (type == DType::f32) {
    std::memcpy(out, x, static_cast<size_t>(n) * sizeof(float));
  } else if (type == DType::f16 && s.kernels->map.encode_f16 != nullptr) {
    s.kernels->map.encode_f16(x, bytes, n);
  } else if (type == DType::bf16 && s.kernels->map.encode_bf16 != nullptr) {
    s.kernels->map.encode_bf16(x, bytes, n);
  } else {
    quant::find_format(type)->encode(x, out, n);
  }
}

}  // namespace

void run_verb(const Step& s, const Worker& w, const verb::KvAppend& v) {
  const KvLayer& kv = s.program->input.kv[static_cast<size_t>(v.layer)];
  const auto [begin, end] = w.share(v.k.rows);
  for (const SeqSpan& span : s.program->input.seqs) {
    const int64_t from = std::max<int64_t>(begin, span.row0), to = std::min<int64_t>(end, span.row0 + span.n_rows);
    for (int64_t r = from; r < to; ++r) {
      const int32_t pos = span.pos0 + static_cast<int32_t>(r - span.row0);
      const int32_t block = span.blocks[static_cast<size_t>(pos / kKvBlockPositions)];
      encode(s, kv.k_type, s.row(v.k, r), kv.k_row(block, pos % kKvBlockPositions), v.k.cols);
      encode(s, kv.v_type, s.row(v.v, r), kv.v_row(block, pos % kKvBlockPositions), v.v.cols);
    }
  }
}

}  // namespace ridge::cpu
