// The step that the iq2 and iq3 decoders share: eight grid values, eight signs, one scale.
#pragma once

#include <cstdint>

namespace ridge::quant {

// Byte j of values is the magnitude of element j, bit j of signs its sign.
inline void put_signed(uint64_t values, unsigned signs, float scale, float* out) {
  for (int j = 0; j < 8; ++j) {
    const auto magnitude = static_cast<uint8_t>(values >> (8 * j));
    out[j] = scale * static_cast<float>(magnitude) * (((signs >> j) & 1) != 0 ? -1.0f : 1.0f);
  }
}

}  // namespace ridge::quant
