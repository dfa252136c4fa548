// Decoder of mxfp4; layout, formula and source of truth are in the header.
#include "quant/mxfp4.h"

#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

// 2^(e - 128), half the scale because kFp4Values holds doubled values; subnormal for e = 0 and 1.
float half_of_e8m0(uint8_t e) {
  const uint32_t bits = e < 2 ? 0x00200000u << e : (uint32_t{e} - 1) << 23;
  return __builtin_bit_cast(float, bits);
}

}  // namespace

void decode_mxfp4(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockMXFP4*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockMXFP4::kElems, ++block, out += BlockMXFP4::kElems) {
    const float half_scale = half_of_e8m0(block->e);
    for (int j = 0; j < 16; ++j) {
      out[j] = static_cast<float>(kFp4Values.value[block->qs[j] & 15]) * half_scale;
      out[j + 16] = static_cast<float>(kFp4Values.value[block->qs[j] >> 4]) * half_scale;
    }
  }
}

}  // namespace ridge::quant
