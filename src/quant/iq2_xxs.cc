// Decoder of iq2_xxs; layout, formula and source of truth are in the header.
#include "quant/iq2_xxs.h"

#include "quant/iq_decode.h"
#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq2_xxs(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ2XXS*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ2XXS::kElems, ++block, out += BlockIQ2XXS::kElems) {
    const float d = f32_from_f16(block->d);
    for (int g = 0; g < 8; ++g) {
      const uint32_t word = block->groups[g].signs_and_scale;
      const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.25f;
      for (int k = 0; k < 4; ++k) {
        put_signed(kIq2xxsGrid.entry[block->groups[g].index[k]], kEvenSigns.entry[(word >> (7 * k)) & 127], scale,
                   out + 32 * g + 8 * k);
      }
    }
  }
}

}  // namespace ridge::quant
