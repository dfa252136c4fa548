// Grids as in super_block.cc.
#include "quant/small_block.h"

#include "quant/encode_util.h"
#include "quant/iq4_search.h"
#include "quant/search.h"
#include "tensor/dtype.h"

namespace ridge::quant {
namespace {

using search::AffineGrid;
using search::Integers;
using search::ScaleGrid;
using search::V4;

constexpr int kElems = 32;

// Calls put(i, q) with the value nearest to (x[i] - offset) * inverse, for every i.
template <class Values, class Put>
void round_all(const float* x, float offset, float inverse, const Values& values, const Put& put) {
  for (int i = 0; i < kElems; i += 4) {
    const V4 q = values((search::load(x + i) - search::splat(offset)) * search::splat(inverse));
    for (int k = 0; k < 4; ++k) put(i + k, static_cast<int>(q[k]));
  }
}

template <class Values, class Code>
SmallBlock fit_scaled(const float* x, const float* importance, const Values& values, const ScaleGrid& grid,
                      const Code& code) {
  if (!range_of(x, kElems).finite) return {.d = kNanF16};
  alignas(16) float w[kElems];
  search::weigh(x, importance, kElems, w);
  SmallBlock b{.d = f16_from_f32(search::search_scale<kElems>(x, w, values, grid).scale)};
  round_all(x, 0, inverse_or_zero(f32_from_f16(b.d)), values, [&](int i, int q) { b.q[i] = code(q); });
  return b;
}

SmallBlock fit_affine(const float* x, const float* importance, int top, const AffineGrid& grid) {
  if (!range_of(x, kElems).finite) return {.d = kNanF16, .m = kNanF16};
  alignas(16) float w[kElems];
  search::weigh(x, importance, kElems, w);
  const auto fit = search::search_affine<kElems, false>(x, w, static_cast<float>(top), grid);
  SmallBlock b{.d = f16_from_f32(fit.scale), .m = f16_from_f32(fit.offset)};
  const Integers values{.lo = 0, .hi = static_cast<float>(top)};
  round_all(x, f32_from_f16(b.m), inverse_or_zero(f32_from_f16(b.d)), values,
            [&](int i, int q) { b.q[i] = static_cast<uint8_t>(q); });
  return b;
}

}  // namespace

SmallBlock fit_q4_0(const float* x, const float* importance) {
  return fit_scaled(x, importance, Integers{.lo = -8, .hi = 7},
                    {.low = -8.8f, .step = 0.2f, .n = 12, .n_mirrored = 0, .n_refine = 2},
                    [](int q) { return static_cast<uint8_t>(q + 8); });
}

SmallBlock fit_q5_0(const float* x, const float* importance) {
  return fit_scaled(x, importance, Integers{.lo = -16, .hi = 15},
                    {.low = -16.8f, .step = 0.2f, .n = 12, .n_mirrored = 0, .n_refine = 2},
                    [](int q) { return static_cast<uint8_t>(q + 16); });
}

SmallBlock fit_q4_1(const float* x, const float* importance) {
  return fit_affine(x, importance, 15, {.low = -0.9f, .step = 0.15f, .n = 12, .n_refine = 2});
}

SmallBlock fit_q5_1(const float* x, const float* importance) {
  return fit_affine(x, importance, 31, {.low = -0.9f, .step = 0.2f, .n = 9, .n_refine = 2});
}

SmallBlock fit_iq4_nl(const float* x, const float* importance) {
  static const search::Iq4Values values;
  return fit_scaled(x, importance, values, {.low = -134.0f, .step = 2.0f, .n = 8, .n_mirrored = 0, .n_refine = 2},
                    [](int q) { return search::iq4_index(q); });
}

}  // namespace ridge::quant
