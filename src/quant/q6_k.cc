// Decoder of q6_k; layout, formula and source of truth are in the header.
#include "quant/q6_k.h"

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

}  // namespace ridge::quant
