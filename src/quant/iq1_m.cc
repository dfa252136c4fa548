// Decoder of iq1_m; layout, formula and source of truth are in the header.
#include "quant/iq1_m.h"

#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq1_m(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ1M*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ1M::kElems, ++block, out += BlockIQ1M::kElems) {
    unsigned d_bits = 0;
    for (int w = 0; w < 4; ++w) d_bits |= static_cast<unsigned>(block->scales[w] >> 12) << (4 * w);
    const float d = f32_from_f16(static_cast<uint16_t>(d_bits));
    for (int e = 0; e < 32; ++e) {
      const unsigned high = (block->qh[e / 2] >> (4 * (e % 2))) & 15;
      const unsigned s = (block->scales[e / 8] >> (3 * ((e / 2) % 4))) & 7;
      const float scale = d * static_cast<float>(2 * s + 1);
      const float shift = (high & 8) != 0 ? -0.125f : 0.125f;
      const unsigned index = block->qs[e] | (high & 7) << 8;
      for (int j = 0; j < 8; ++j) {
        const auto value = static_cast<int8_t>(kIq1sGrid.entry[index] >> (8 * j));
        out[8 * e + j] = scale * (static_cast<float>(value) + shift);
      }
    }
  }
}

}  // namespace ridge::quant
