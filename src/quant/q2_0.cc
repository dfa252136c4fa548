// Decoder of q2_0; layout, formula and source of truth are in the header.
#include "quant/q2_0.h"

#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q2_0(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ2_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ2_0::kElems, ++block, out += BlockQ2_0::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 64; ++j) out[j] = static_cast<float>(((block->qs[j / 4] >> (2 * (j % 4))) & 3) - 1) * d;
  }
}

}  // namespace ridge::quant
