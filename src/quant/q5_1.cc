// Decoder and encoder of q5_1; layout, formula and source of truth are in the header.
#include "quant/q5_1.h"

#include "quant/encode_util.h"
#include "quant/small_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q5_1(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ5_1*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ5_1::kElems, ++block, out += BlockQ5_1::kElems) {
    const float d = f32_from_f16(block->d), m = f32_from_f16(block->m);
    for (int j = 0; j < 32; ++j) {
      const int low = (block->qs[j % 16] >> (4 * (j / 16))) & 15, high = static_cast<int>((block->qh >> j) & 1);
      out[j] = static_cast<float>(low | high << 4) * d + m;
    }
  }
}

void encode_q5_1(const float* in, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ5_1*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ5_1::kElems, ++block, in += BlockQ5_1::kElems) {
    const BlockRange range = range_of(in, 32);
    const float d = (range.max - range.min) / 31.0f, inverse = inverse_or_zero(d);
    block->d = range.finite ? f16_from_f32(d) : kNanF16;
    block->m = range.finite ? f16_from_f32(range.min) : kNanF16;
    uint8_t q[32];
    for (int j = 0; j < 32; ++j) q[j] = static_cast<uint8_t>(truncate_to((in[j] - range.min) * inverse + 0.5f, 0, 31));
    uint32_t qh = 0;
    for (int j = 0; j < 32; ++j) qh |= static_cast<uint32_t>(q[j] >> 4) << j;
    block->qh = qh;
    for (int j = 0; j < 16; ++j) block->qs[j] = static_cast<uint8_t>((q[j] & 15) | (q[j + 16] & 15) << 4);
  }
}

void quantise_q5_1(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ5_1*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ5_1::kElems, ++block) {
    const SmallBlock fit = fit_q5_1(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    block->m = fit.m;
    uint32_t qh = 0;
    for (int j = 0; j < 32; ++j) qh |= static_cast<uint32_t>(fit.q[j] >> 4) << j;
    block->qh = qh;
    for (int j = 0; j < 16; ++j) block->qs[j] = static_cast<uint8_t>((fit.q[j] & 15) | (fit.q[j + 16] & 15) << 4);
  }
}

}  // namespace ridge::quant
