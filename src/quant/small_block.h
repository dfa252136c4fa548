// The search of the formats of 32 elements with one f16 scale (and one f16 offset). Packing is each format's own. For
// the .cc files of quant/ only.
#pragma once

#include <cstdint>

namespace ridge::quant {

// q: the unsigned codes that are stored. A block with a NaN or an infinity has d (and m) NaN.
struct SmallBlock {
  uint16_t d = 0, m = 0;  // f16 bits
  uint8_t q[32] = {};
};
SmallBlock fit_q4_0(const float* x, const float* importance);
SmallBlock fit_q5_0(const float* x, const float* importance);
SmallBlock fit_q4_1(const float* x, const float* importance);
SmallBlock fit_q5_1(const float* x, const float* importance);
SmallBlock fit_iq4_nl(const float* x, const float* importance);

}  // namespace ridge::quant
