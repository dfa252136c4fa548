// Decoder of tq1_0; layout, formula and source of truth are in the header.
#include "quant/tq1_0.h"

#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

// Digit n of a byte, minus one: the multiplication drops the digits before it, 3 * byte / 256 reads it.
float trit(uint8_t byte, int n) {
  constexpr uint8_t kPowersOf3[] = {1, 3, 9, 27, 81};
  const auto rest = static_cast<uint8_t>(byte * kPowersOf3[n]);
  return static_cast<float>(((rest * 3) >> 8) - 1);
}

}  // namespace

void decode_tq1_0(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockTQ1_0*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockTQ1_0::kElems, ++block, out += BlockTQ1_0::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 160; ++j) out[j] = trit(block->qs[j % 32], j / 32) * d;
    for (int j = 0; j < 80; ++j) out[160 + j] = trit(block->qs[32 + j % 16], j / 16) * d;
    for (int j = 0; j < 16; ++j) out[240 + j] = trit(block->qh[j % 4], j / 4) * d;
  }
}

}  // namespace ridge::quant
