// Decoder and encoder of q3_k; layout, formula and source of truth are in the header.
#include "quant/q3_k.h"

#include <cstring>

#include "quant/super_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q3_k(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ3K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ3K::kElems, ++block, out += BlockQ3K::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 256; ++j) {
      const int g = j / 16, half = j / 128, l = j % 32;
      const int scale_low = (block->scales[g % 8] >> (4 * (g / 8))) & 15;
      const int scale_high = (block->scales[8 + g % 4] >> (2 * (g / 4))) & 3;
      const float scale = d * static_cast<float>((scale_low | scale_high << 4) - 32);
      const int low = (block->qs[32 * half + l] >> (2 * ((j / 32) % 4))) & 3;
      const bool high = ((block->hmask[l] >> (j / 32)) & 1) != 0;
      out[j] = scale * static_cast<float>(high ? low : low - 4);
    }
  }
}

void quantise_q3_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ3K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ3K::kElems, ++block) {
    const ScaledBlock fit = fit_q3_k(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    std::memset(block->scales, 0, sizeof(block->scales));
    for (int g = 0; g < 16; ++g) {
      const int code = fit.scale[g] + 32;
      block->scales[g % 8] |= static_cast<uint8_t>((code & 15) << (4 * (g / 8)));
      block->scales[8 + g % 4] |= static_cast<uint8_t>((code >> 4) << (2 * (g / 4)));
    }
    std::memset(block->hmask, 0, sizeof(block->hmask));
    std::memset(block->qs, 0, sizeof(block->qs));
    for (int j = 0; j < 256; ++j) {
      const int q = fit.q[j] + 4, l = j % 32;
      block->qs[32 * (j / 128) + l] |= static_cast<uint8_t>((q & 3) << (2 * ((j / 32) % 4)));
      block->hmask[l] |= static_cast<uint8_t>((q >> 2) << (j / 32));
    }
  }
}

}  // namespace ridge::quant
