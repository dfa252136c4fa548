// Decoder of q5_k; layout, formula and source of truth are in the header.
#include "quant/q5_k.h"

#include "quant/k_scales.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q5_k(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ5K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ5K::kElems, ++block, out += BlockQ5K::kElems) {
    const float d = f32_from_f16(block->d), dmin = f32_from_f16(block->dmin);
    for (int g = 0; g < 8; ++g) {
      const ScaleMin s = k_scale_min(block->scales, g);
      const float scale = d * static_cast<float>(s.scale), minimum = dmin * static_cast<float>(s.min);
      for (int l = 0; l < 32; ++l) {
        const int low = (block->qs[32 * (g / 2) + l] >> (4 * (g % 2))) & 15, high = (block->qh[l] >> g) & 1;
        out[32 * g + l] = scale * static_cast<float>(low | high << 4) - minimum;
      }
    }
  }
}

}  // namespace ridge::quant
