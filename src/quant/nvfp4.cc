// Decoder of nvfp4; layout, formula and source of truth are in the header.
#include "quant/nvfp4.h"

#include <cmath>

#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

// Half the scale, because kFp4Values holds doubled values.
float half_of_e4m3(uint8_t s) {
  if ((s & 0x7F) == 0 || s == 0x7F) return 0;
  const int exponent = (s >> 3) & 15, mantissa = s & 7;
  if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), -10);
  return std::ldexp(static_cast<float>(8 + mantissa), exponent - 11);
}

}  // namespace

void decode_nvfp4(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockNVFP4*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockNVFP4::kElems, ++block, out += BlockNVFP4::kElems) {
    for (int g = 0; g < 4; ++g) {
      const float half_scale = half_of_e4m3(block->d[g]);
      for (int j = 0; j < 8; ++j) {
        out[16 * g + j] = static_cast<float>(kFp4Values.value[block->qs[8 * g + j] & 15]) * half_scale;
        out[16 * g + 8 + j] = static_cast<float>(kFp4Values.value[block->qs[8 * g + j] >> 4]) * half_scale;
      }
    }
  }
}

}  // namespace ridge::quant
