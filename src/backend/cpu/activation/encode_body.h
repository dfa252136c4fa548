// f32 to f16 and bf16, round to nearest even, NaNs as quant/ writes them; included after one of the SIMD vec_*.h.
#pragma once

#include "backend/cpu/kernel_set.h"

namespace ridge::cpu {
namespace {

void encode_f16(const float* x, uint8_t* out, int64_t n) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store_f16_n(out + 2 * k, load(x + k), kLanes);
  if (k < n) store_f16_n(out + 2 * k, load_n(x + k, static_cast<int>(n - k)), static_cast<int>(n - k));
}

void encode_bf16(const float* x, uint8_t* out, int64_t n) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store_bf16_n(out + 2 * k, load(x + k), kLanes);
  if (k < n) store_bf16_n(out + 2 * k, load_n(x + k, static_cast<int>(n - k)), static_cast<int>(n - k));
}

}  // namespace
}  // namespace ridge::cpu
