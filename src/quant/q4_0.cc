// Decoder and encoder of q4_0; layout, formula and source of truth are in the header.
#include "quant/q4_0.h"

#include "quant/encode_util.h"
#include "quant/small_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q4_0(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ4_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ4_0::kElems, ++block, out += BlockQ4_0::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 16; ++j) {
      out[j] = static_cast<float>((block->qs[j] & 15) - 8) * d;
      out[j + 16] = static_cast<float>((block->qs[j] >> 4) - 8) * d;
    }
  }
}

void encode_q4_0(const float* in, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ4_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ4_0::kElems, ++block, in += BlockQ4_0::kElems) {
    const BlockRange range = range_of(in, 32);
    const float d = range.farthest / -8.0f, inverse = inverse_or_zero(d);
    block->d = range.finite ? f16_from_f32(d) : kNanF16;
    uint8_t q[32];
    for (int j = 0; j < 32; ++j) q[j] = static_cast<uint8_t>(truncate_to(in[j] * inverse + 8.5f, 0, 15));
    for (int j = 0; j < 16; ++j) block->qs[j] = static_cast<uint8_t>(q[j] | q[j + 16] << 4);
  }
}

void quantise_q4_0(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ4_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ4_0::kElems, ++block) {
    const SmallBlock fit = fit_q4_0(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    for (int j = 0; j < 16; ++j) block->qs[j] = static_cast<uint8_t>(fit.q[j] | fit.q[j + 16] << 4);
  }
}

}  // namespace ridge::quant
