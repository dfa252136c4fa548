// Decoder and encoder of q4_k; layout, formula and source of truth are in the header.
#include "quant/q4_k.h"

#include "quant/k_scales.h"
#include "quant/super_block.h"
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

void quantise_q4_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ4K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ4K::kElems, ++block) {
    const AffineBlock fit = fit_q4_k(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    block->dmin = fit.dmin;
    pack_k_scales(fit.scale, fit.min, block->scales);

    for (int h = 0; h < 4; ++h) {
      const uint8_t* q = fit.q + 64 * h;
      for (int l = 0; l < 32; ++l) block->qs[32 * h + l] = static_cast<uint8_t>(q[l] | q[l + 32] << 4);
    }
  }
}

}  // namespace ridge::quant
