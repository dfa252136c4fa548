// Decoder of q1_0; layout, formula and source of truth are in the header.
#include "quant/q1_0.h"

#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q1_0(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ1_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ1_0::kElems, ++block, out += BlockQ1_0::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 128; ++j) out[j] = ((block->qs[j / 8] >> (j % 8)) & 1) != 0 ? d : -d;
  }
}

}  // namespace ridge::quant
