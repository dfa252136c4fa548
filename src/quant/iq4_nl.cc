// Decoder and encoder of iq4_nl; layout, formula and source of truth are in the header.
#include "quant/iq4_nl.h"

#include "quant/encode_util.h"
#include "quant/iq_tables.h"
#include "quant/small_block.h"
#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

// Index of the table value nearest to v; of two as near, the larger. NaN gives the first.
int nearest_index(float v) {
  int best = 0;
  for (int i = 1; i < 16; ++i) {
    if (std::fabs(v - static_cast<float>(kIq4Values.value[i])) <=
        std::fabs(v - static_cast<float>(kIq4Values.value[best])))
      best = i;
  }
  return best;
}

// Sums of the least-squares fit x = d * value, weight x^2, when each element takes the value nearest to x * inverse.
struct Fit {
  float xq = 0, qq = 0;
};
Fit fit(const float* x, float inverse) {
  Fit sums;
  for (int j = 0; j < 32; ++j) {
    const auto q = static_cast<float>(kIq4Values.value[nearest_index(x[j] * inverse)]);
    const float weight = x[j] * x[j];
    sums.xq += weight * q * x[j];
    sums.qq += weight * q * q;
  }
  return sums;
}

// Starting scales: the value of largest magnitude at 127, then at -127 +- 7. What a fit explains is xq^2 / qq; the
// largest wins.
float best_scale(const float* x, float farthest) {
  constexpr int kTries = 7;
  constexpr float kTiny = 1e-15f;  // below this the squares of the fit vanish; the f16 scale would be 0 anyway
  if (std::fabs(farthest) < kTiny) return 0;
  float d = 0, best = 0;
  const auto consider = [&](float target) {
    const Fit sums = fit(x, target / farthest);
    if (!(sums.qq > 0) || sums.xq * sums.xq <= best * sums.qq) return;
    d = sums.xq / sums.qq;
    best = d * sums.xq;
  };
  consider(127.0f);
  for (int t = -kTries; t <= kTries; ++t) consider(static_cast<float>(t - 127));
  return d;
}

}  // namespace

void decode_iq4_nl(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockIQ4NL*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ4NL::kElems, ++block, out += BlockIQ4NL::kElems) {
    const float d = f32_from_f16(block->d);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * static_cast<float>(kIq4Values.value[block->qs[j] & 15]);
      out[j + 16] = d * static_cast<float>(kIq4Values.value[block->qs[j] >> 4]);
    }
  }
}

void encode_iq4_nl(const float* in, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockIQ4NL*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ4NL::kElems, ++block, in += BlockIQ4NL::kElems) {
    const BlockRange range = range_of(in, 32);
    const float d = range.finite ? best_scale(in, range.farthest) : 0, inverse = inverse_or_zero(d);
    block->d = range.finite ? f16_from_f32(d) : kNanF16;
    for (int j = 0; j < 16; ++j) {
      block->qs[j] = static_cast<uint8_t>(nearest_index(in[j] * inverse) | nearest_index(in[j + 16] * inverse) << 4);
    }
  }
}

void quantise_iq4_nl(const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockIQ4NL*>(blocks);
  for (int64_t i = 0; i < n_elems; i += BlockIQ4NL::kElems, ++block) {
    const SmallBlock fit = fit_iq4_nl(in + i, importance == nullptr ? nullptr : importance + i);
    block->d = fit.d;
    for (int j = 0; j < 16; ++j) block->qs[j] = static_cast<uint8_t>(fit.q[j] | fit.q[j + 16] << 4);
  }
}

}  // namespace ridge::quant
