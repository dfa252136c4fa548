// Decoder and encoder of iq4_xs; layout, formula and source of truth are in the header.
#include "quant/iq4_xs.h"

#include "quant/iq4_search.h"
#include "quant/iq_tables.h"
#include "quant/super_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_iq4_xs(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ4XS*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ4XS::kElems, ++block, out += BlockIQ4XS::kElems) {
    const float d = f32_from_f16(block->d);
    for (int g = 0; g < 8; ++g) {
      const int low = (block->scales_l[g / 2] >> (4 * (g % 2))) & 15, high = (block->scales_h >> (2 * g)) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      for (int j = 0; j < 16; ++j) {
        const uint8_t q = block->qs[16 * g + j];
        out[32 * g + j] = scale * static_cast<float>(kIq4Values.value[q & 15]);
        out[32 * g + 16 + j] = scale * static_cast<float>(kIq4Values.value[q >> 4]);
      }
    }
  }
}

void quantise_iq4_xs(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockIQ4XS*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ4XS::kElems, ++block) {
    const ScaledBlock fit = fit_iq4_xs(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    unsigned high = 0;
    for (int g = 0; g < 8; g += 2) {
      const int a = fit.scale[g] + 32, b = fit.scale[g + 1] + 32;
      block->scales_l[g / 2] = static_cast<uint8_t>((a & 15) | (b & 15) << 4);
      high |= static_cast<unsigned>(a >> 4 | b >> 4 << 2) << (2 * g);
    }
    block->scales_h = static_cast<uint16_t>(high);
    for (int j = 0; j < 128; ++j) {
      const int8_t* q = fit.q + 32 * (j / 16) + j % 16;
      block->qs[j] = static_cast<uint8_t>(search::iq4_index(q[0]) | search::iq4_index(q[16]) << 4);
    }
  }
}

}  // namespace ridge::quant
