// The nearest of iq4's 16 values, for vectors of 4: for the searches of iq4_nl and iq4_xs only.
#pragma once

#include "quant/iq_tables.h"
#include "quant/search.h"

namespace ridge::quant::search {

// A value is reached from the first by adding every step whose midpoint lies below.
struct Iq4Values {
  float middle[15], step[15], first;

  Iq4Values() : first(static_cast<float>(kIq4Values.value[0])) {
    for (int i = 0; i < 15; ++i) {
      const auto a = static_cast<float>(kIq4Values.value[i]), b = static_cast<float>(kIq4Values.value[i + 1]);
      middle[i] = (a + b) / 2;
      step[i] = b - a;
    }
  }
  V4 operator()(V4 v) const {
    V4 q = splat(first);
    for (int i = 0; i < 15; ++i) q += v >= splat(middle[i]) ? splat(step[i]) : V4{};
    return q;
  }
};

// Index of a value of the table.
inline uint8_t iq4_index(int value) {
  uint8_t index = 0;
  while (index < 15 && kIq4Values.value[index] < value) ++index;
  return index;
}

}  // namespace ridge::quant::search
