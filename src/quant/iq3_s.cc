// Decoder of iq3_s; layout, formula and source of truth are in the header.
#include "quant/iq3_s.h"

#include "quant/iq_decode.h"
#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq3_s(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ3S*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ3S::kElems, ++block, out += BlockIQ3S::kElems) {
    const float d = f32_from_f16(block->d);
    for (int e = 0; e < 32; ++e) {
      const int s = (block->scales[e / 8] >> (4 * ((e / 4) % 2))) & 15;
      const float scale = d * static_cast<float>(1 + 2 * s);
      const unsigned high_bits = block->qh[e / 4] >> (2 * (e % 4));
      const uint64_t low = kIq3sGrid.entry[block->qs[2 * e] | (high_bits & 1) << 8];
      const uint64_t high = kIq3sGrid.entry[block->qs[2 * e + 1] | ((high_bits >> 1) & 1) << 8];
      put_signed(low | high << 32, block->signs[e], scale, out + 8 * e);
    }
  }
}

}  // namespace ridge::quant
