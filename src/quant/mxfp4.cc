// Decoder and encoder of mxfp4; layout, formula and source of truth are in the header.
#include "quant/mxfp4.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "quant/encode_util.h"
#include "quant/iq_tables.h"
#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

// 2^(e - 128), half the scale because kFp4Values holds doubled values; subnormal for e = 0 and 1.
float half_of_e8m0(uint8_t e) {
  const uint32_t bits = e < 2 ? 0x00200000u << e : (uint32_t{e} - 1) << 23;
  return __builtin_bit_cast(float, bits);
}

// The code of the value nearest to v, in the doubled units of kFp4Values; of two as near, the smaller.
int nearest_code(float v) {
  constexpr float kMiddle[] = {0.5f, 1.5f, 2.5f, 3.5f, 5.0f, 7.0f, 10.0f};
  int code = 0;
  for (const float middle : kMiddle) code += std::fabs(v) > middle ? 1 : 0;
  return std::signbit(v) && code > 0 ? code + 8 : code;
}

// The exponent under which the error is least: that at which the largest value just fits between 4 and 8, one below, at
// which it is cut to 6, and one above.
uint8_t best_exponent(const float* x, const float* weight, float largest) {
  if (largest == 0) return 0;
  const int usual = std::ilogb(largest) - 2 + 127;
  uint8_t best = 0;
  float least = std::numeric_limits<float>::infinity();
  for (int e = std::max(usual - 1, 2); e <= std::min(std::max(usual + 1, 2), 254); ++e) {
    const float half = half_of_e8m0(static_cast<uint8_t>(e)), inverse = 1 / half;
    float error = 0;
    for (int j = 0; j < BlockMXFP4::kElems; ++j) {
      const float off = x[j] * inverse - static_cast<float>(kFp4Values.value[nearest_code(x[j] * inverse)]);
      error += off * off * (weight == nullptr ? 1.0f : weight[j]);
    }
    error *= half * half;
    if (!(error < least)) continue;
    least = error;
    best = static_cast<uint8_t>(e);
  }
  return best;
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

void quantise_mxfp4(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockMXFP4*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockMXFP4::kElems, ++block) {
    const float* x = in + i;
    const float* weight = importance == nullptr ? nullptr : importance + i;
    const BlockRange range = range_of(x, BlockMXFP4::kElems);
    if (!range.finite) {  // this format has no NaN: the largest scale, at which its codes of 4 and 6 are infinite
      block->e = 255;
      std::memset(block->qs, 0x77, sizeof(block->qs));
      continue;
    }
    block->e = best_exponent(x, weight, std::fabs(range.farthest));
    const float inverse = 1 / half_of_e8m0(block->e);
    for (int j = 0; j < 16; ++j)
      block->qs[j] = static_cast<uint8_t>(nearest_code(x[j] * inverse) | nearest_code(x[j + 16] * inverse) << 4);
  }
}

}  // namespace ridge::quant
