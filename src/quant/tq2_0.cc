// Decoder of tq2_0; layout, formula and source of truth are in the header.
#include "quant/tq2_0.h"

#include "tensor/dtype.h"

namespace ridge::quant {

void decode_tq2_0(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockTQ2_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockTQ2_0::kElems, ++block, out += BlockTQ2_0::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 256; ++j) {
      const int q = (block->qs[32 * (j / 128) + j % 32] >> (2 * ((j / 32) % 4))) & 3;
      out[j] = static_cast<float>(q - 1) * d;
    }
  }
}

}  // namespace ridge::quant
