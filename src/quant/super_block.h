// The search that the formats of 256 elements share: a scale (and a minimum) for each group, those rounded to small
// integers under a scale for the block, then the integers of the elements, refitted. Packing them into bytes is each
// format's own. For the .cc files of quant/ only.
#pragma once

#include <cstdint>

namespace ridge::quant {

// x[i] = d * scale[g] * q[i] - dmin * min[g]; d and dmin are f16 bits. A block with a NaN or an infinity has d NaN.
struct AffineBlock {
  uint16_t d = 0, dmin = 0;
  uint8_t scale[16] = {}, min[16] = {};
  uint8_t q[256] = {};
};
// importance: 256 weights above 0, or nullptr.
AffineBlock fit_q2_k(const float* x, const float* importance);  // 16 groups, q 0..3, scale and min 0..15
AffineBlock fit_q4_k(const float* x, const float* importance);  // 8 groups, q 0..15, scale and min 0..63
AffineBlock fit_q5_k(const float* x, const float* importance);  // 8 groups, q 0..31, scale and min 0..63

// x[i] = d * scale[g] * q[i].
struct ScaledBlock {
  uint16_t d = 0;
  int8_t scale[16] = {};
  int8_t q[256] = {};
};
ScaledBlock fit_q3_k(const float* x, const float* importance);    // 16 groups, q -4..3, scale -32..31
ScaledBlock fit_q6_k(const float* x, const float* importance);    // 16 groups, q -32..31, scale -128..127
ScaledBlock fit_iq4_xs(const float* x, const float* importance);  // 8 groups, q of kIq4Values, scale -32..31

}  // namespace ridge::quant
