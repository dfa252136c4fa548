// Decoder and encoder of q6_k; layout, formula and source of truth are in the header.
#include "quant/q6_k.h"

#include <cstring>

#include "quant/super_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q6_k(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ6K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ6K::kElems, ++block, out += BlockQ6K::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 256; ++j) {
      const int half = j / 128, k = (j / 32) % 4, l = j % 32;
      const int low = (block->ql[64 * half + 32 * (k % 2) + l] >> (4 * (k / 2))) & 15;
      const int high = (block->qh[32 * half + l] >> (2 * k)) & 3;
      out[j] = d * static_cast<float>(block->scales[j / 16]) * static_cast<float>((low | high << 4) - 32);
    }
  }
}

void quantise_q6_k(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ6K*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ6K::kElems, ++block) {
    const ScaledBlock fit = fit_q6_k(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    std::memcpy(block->scales, fit.scale, sizeof(block->scales));
    for (int half = 0; half < 2; ++half) {
      const int8_t* q = fit.q + 128 * half;
      for (int l = 0; l < 32; ++l) {
        uint8_t code[4];
        for (int k = 0; k < 4; ++k) code[k] = static_cast<uint8_t>(q[32 * k + l] + 32);
        block->ql[64 * half + l] = static_cast<uint8_t>((code[0] & 15) | (code[2] & 15) << 4);
        block->ql[64 * half + 32 + l] = static_cast<uint8_t>((code[1] & 15) | (code[3] & 15) << 4);
        block->qh[32 * half + l] =
            static_cast<uint8_t>(code[0] >> 4 | code[1] >> 4 << 2 | code[2] >> 4 << 4 | code[3] >> 4 << 6);
      }
    }
  }
}

}  // namespace ridge::quant
