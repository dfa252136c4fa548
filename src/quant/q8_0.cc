// Decoder and encoder of q8_0; layout, formula and source of truth are in the header.
#include "quant/q8_0.h"

#include "quant/encode_util.h"
#include "tensor/dtype.h"

namespace ridge::quant {

void decode_q8_0(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockQ8_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ8_0::kElems, ++block, out += BlockQ8_0::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(block->qs[j]) * d;
  }
}

void encode_q8_0(const float* in, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockQ8_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockQ8_0::kElems, ++block, in += BlockQ8_0::kElems) {
    const BlockRange range = range_of(in, 32);
    const float d = std::fabs(range.farthest) / 127.0f, inverse = inverse_or_zero(d);
    block->d = range.finite ? f16_from_f32(d) : kNanF16;
    for (int j = 0; j < 32; ++j)
      block->qs[j] = static_cast<int8_t>(truncate_to(std::round(in[j] * inverse), -127, 127));
  }
}

}  // namespace ridge::quant
