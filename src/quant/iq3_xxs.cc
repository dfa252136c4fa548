// Decoder of iq3_xxs; layout, formula and source of truth are in the header.
#include "quant/iq3_xxs.h"

#include "quant/iq_decode.h"
#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq3_xxs(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ3XXS*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ3XXS::kElems, ++block, out += BlockIQ3XXS::kElems) {
    const float d = f32_from_f16(block->d);
    for (int e = 0; e < 32; ++e) {
      const uint32_t word = block->signs_and_scale[e / 4];
      const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
      const uint64_t low = kIq3xxsGrid.entry[block->qs[2 * e]], high = kIq3xxsGrid.entry[block->qs[2 * e + 1]];
      put_signed(low | high << 32, kEvenSigns.entry[(word >> (7 * (e % 4))) & 127], scale, out + 8 * e);
    }
  }
}

}  // namespace ridge::quant
