// Decoder of iq4_xs; layout, formula and source of truth are in the header.
#include "quant/iq4_xs.h"

#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq4_xs(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ4XS*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ4XS::kElems, ++block, out += BlockIQ4XS::kElems) {
    const float d = f32_from_f16(block->d);
    for (int g = 0; g < 8; ++g) {
      const int low = (block->scales_l[g / 2] >> (4 * (g % 2))) & 15, high = (block->scales_h >> (2 * g)) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      for (int j = 0; j < 16; ++j) {
        const uint8_t q = block->qs[16 * g + j];
        out[32 * g + j] = scale * static_cast<float>(kIq4Values.value[q & 15]);
        out[32 * g + 16 + j] = scale * static_cast<float>(kIq4Values.value[q >> 4]);
      }
    }
  }
}

}  // namespace ridge::quant
