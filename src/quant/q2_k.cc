// Decoder and encoder of q2_k; layout, formula and source of truth are in the header.
#include "quant/q2_k.h"

#include "quant/super_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q2_k(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ2K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ2K::kElems, ++block, out += BlockQ2K::kElems) {
    const float d = f32_from_f16(block->d), dmin = f32_from_f16(block->dmin);
    for (int j = 0; j < 256; ++j) {
      const int half = j / 128, shift = 2 * ((j / 32) % 4);
      const uint8_t s = block->scales[j / 16];
      const float scale = d * static_cast<float>(s & 15), minimum = dmin * static_cast<float>(s >> 4);
      out[j] = scale * static_cast<float>((block->qs[32 * half + j % 32] >> shift) & 3) - minimum;
    }
  }
}

void quantise_q2_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ2K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ2K::kElems, ++block) {
    const AffineBlock fit = fit_q2_k(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    block->dmin = fit.dmin;
    for (int g = 0; g < 16; ++g) block->scales[g] = static_cast<uint8_t>(fit.scale[g] | fit.min[g] << 4);
    for (int half = 0; half < 2; ++half) {
      const uint8_t* q = fit.q + 128 * half;
      for (int l = 0; l < 32; ++l)
        block->qs[32 * half + l] = static_cast<uint8_t>(q[l] | q[l + 32] << 2 | q[l + 64] << 4 | q[l + 96] << 6);
    }
  }
}

}  // namespace ridge::quant
