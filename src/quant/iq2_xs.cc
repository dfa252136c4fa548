// Decoder of iq2_xs; layout, formula and source of truth are in the header.
#include "quant/iq2_xs.h"

#include "quant/iq_decode.h"
#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq2_xs(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ2XS*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ2XS::kElems, ++block, out += BlockIQ2XS::kElems) {
    const float d = f32_from_f16(block->d);
    for (int e = 0; e < 32; ++e) {
      const unsigned q = block->qs[e];
      const int s = (block->scales[e / 4] >> (4 * ((e / 2) % 2))) & 15;
      const float scale = d * (0.5f + static_cast<float>(s)) * 0.25f;
      put_signed(kIq2xsGrid.entry[q & 511], kEvenSigns.entry[q >> 9], scale, out + 8 * e);
    }
  }
}

}  // namespace ridge::quant
