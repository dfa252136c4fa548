// Decoder of q4_k; layout, formula and source of truth are in the header.
#include "quant/q4_k.h"

#include "quant/k_scales.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q4_k(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ4K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ4K::kElems, ++block, out += BlockQ4K::kElems) {
    const float d = f32_from_f16(block->d), dmin = f32_from_f16(block->dmin);
    for (int g = 0; g < 8; ++g) {
      const ScaleMin s = k_scale_min(block->scales, g);
      const float scale = d * static_cast<float>(s.scale), minimum = dmin * static_cast<float>(s.min);
      for (int l = 0; l < 32; ++l) {
        const int q = (block->qs[32 * (g / 2) + l] >> (4 * (g % 2))) & 15;
        out[32 * g + l] = scale * static_cast<float>(q) - minimum;
      }
    }
  }
}

}  // namespace ridge::quant
