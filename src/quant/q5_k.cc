// Decoder and encoder of q5_k; layout, formula and source of truth are in the header.
#include "quant/q5_k.h"

#include "quant/k_scales.h"
#include "quant/super_block.h"
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

void quantise_q5_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ5K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ5K::kElems, ++block) {
    const AffineBlock fit = fit_q5_k(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    block->dmin = fit.dmin;
    pack_k_scales(fit.scale, fit.min, block->scales);

    for (int h = 0; h < 4; ++h) {
      const uint8_t* q = fit.q + 64 * h;
      for (int l = 0; l < 32; ++l) block->qs[32 * h + l] = static_cast<uint8_t>((q[l] & 15) | (q[l + 32] & 15) << 4);
    }
    for (int l = 0; l < 32; ++l) {
      unsigned high = 0;
      for (int k = 0; k < 8; ++k) high |= static_cast<unsigned>(fit.q[32 * k + l] >> 4) << k;
      block->qh[l] = static_cast<uint8_t>(high);
    }
  }
}

}  // namespace ridge::quant
