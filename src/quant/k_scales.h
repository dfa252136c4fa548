// The 12 bytes of scales and minimums that q4_K and q5_K share. Truth: ggml's format, golden/quant.
#pragma once

#include <cstdint>

namespace ridge::quant {

struct ScaleMin {
  uint8_t scale, min;  // 6 bits each
};

// Group g (0..7) of 32 elements. Groups 0-3 lie in the low 6 bits of bytes g (scale) and g + 4 (minimum); of groups 4-7
// the low 4 bits are the nibbles of byte g + 4, and the high 2 bits are the top bits of bytes g - 4 (scale) and g
// (minimum).
[[gnu::always_inline]] static inline ScaleMin k_scale_min(const uint8_t* scales, int g) {
  if (g < 4) return {static_cast<uint8_t>(scales[g] & 63), static_cast<uint8_t>(scales[g + 4] & 63)};
  return {static_cast<uint8_t>((scales[g + 4] & 15) | (scales[g - 4] >> 6) << 4),
          static_cast<uint8_t>((scales[g + 4] >> 4) | (scales[g] >> 6) << 4)};
}

// The inverse: 8 scales and 8 minimums, each below 64, into 12 bytes.
[[gnu::always_inline]] static inline void pack_k_scales(const uint8_t* scale, const uint8_t* min, uint8_t* out) {
  for (int g = 0; g < 4; ++g) {
    out[g] = static_cast<uint8_t>(scale[g] | scale[g + 4] >> 4 << 6);
    out[g + 4] = static_cast<uint8_t>(min[g] | min[g + 4] >> 4 << 6);
    out[g + 8] = static_cast<uint8_t>((scale[g + 4] & 15) | (min[g + 4] & 15) << 4);
  }
}

}  // namespace ridge::quant
