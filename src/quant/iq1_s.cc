// Decoder of iq1_s; layout, formula and source of truth are in the header.
#include "quant/iq1_s.h"

#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq1_s(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ1S*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ1S::kElems, ++block, out += BlockIQ1S::kElems) {
    const float d = f32_from_f16(block->d);
    for (int g = 0; g < 8; ++g) {
      const unsigned qh = block->qh[g];
      const float scale = d * static_cast<float>(2 * ((qh >> 12) & 7) + 1);
      const float shift = (qh & 0x8000) != 0 ? -0.125f : 0.125f;
      for (int k = 0; k < 4; ++k) {
        const unsigned index = block->qs[4 * g + k] | ((qh >> (3 * k)) & 7) << 8;
        for (int j = 0; j < 8; ++j) {
          const auto value = static_cast<int8_t>(kIq1sGrid.entry[index] >> (8 * j));
          out[32 * g + 8 * k + j] = scale * (static_cast<float>(value) + shift);
        }
      }
    }
  }
}

}  // namespace ridge::quant
