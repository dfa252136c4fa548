// Panels of the formats with one scale for 32 elements.
#include <immintrin.h>

#include "backend/cpu/matmul/panel_vnni_body.h"

namespace ridge::cpu {
namespace {

struct NoHead {};

// d[2], levels by one of the readers; x = d (u - 2^kOffset)
template <int kOffset>
struct WithOffset {
  static RIDGE_INLINE NoHead head(const uint8_t*) { return {}; }
  static RIDGE_INLINE Offset<kOffset> scale(NoHead, const uint8_t* scales, int b) {
    return {halves_at(scales + 32 * b)};
  }
};
// d, m; x = d u + m. The sum of the activations is kept negated.
struct WithMinimum {
  static RIDGE_INLINE NoHead head(const uint8_t*) { return {}; }
  static RIDGE_INLINE Minimum scale(NoHead, const uint8_t* scales, int) {
    return {halves_at(scales), _mm512_sub_ps(_mm512_setzero_ps(), halves_at(scales + 32))};
  }
};

struct Q8_0 : WithOffset<7> {
  static constexpr PanelShape kShape = kPanelQ8_0;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    for (int i = 0; i < 8; ++i) u[i] = _mm512_loadu_si512(p + 64 * i);
  }
};
struct Q4_0 : WithOffset<3> {
  static constexpr PanelShape kShape = kPanelQ4_0;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) { nibbles(p, u); }
};
struct Q5_0 : WithOffset<4> {
  static constexpr PanelShape kShape = kPanelQ5_0;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    nibbles(p, u);
    add_bits(p + 256, 16, u);
  }
};
struct Q4_1 : WithMinimum {
  static constexpr PanelShape kShape = kPanelQ4_1;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) { nibbles(p, u); }
};
struct Q5_1 : WithMinimum {
  static constexpr PanelShape kShape = kPanelQ5_1;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    nibbles(p, u);
    add_bits(p + 256, 16, u);
  }
};
struct IQ4NL : WithOffset<7> {
  static constexpr PanelShape kShape = kPanelIQ4NL;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) { looked_up(p, iq4_table(), u); }
};
// Values are kept 16 higher, which makes them unsigned.
struct MXFP4 {
  static constexpr PanelShape kShape = kPanelMXFP4;
  static RIDGE_INLINE NoHead head(const uint8_t*) { return {}; }
  static RIDGE_INLINE Offset<4> scale(NoHead, const uint8_t* scales, int) { return {_mm512_loadu_ps(scales)}; }
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    const __m128i values = _mm_load_si128(reinterpret_cast<const __m128i*>(quant::kFp4Values.value));
    looked_up(p, _mm512_broadcast_i32x4(_mm_add_epi8(values, _mm_set1_epi8(16))), u);
  }
};

}  // namespace

extern const SmallPanelKernels kSmallPanels__avx512_vnni;
constinit const SmallPanelKernels kSmallPanels__avx512_vnni = {
    .q8_0 = multiply_panel<Q8_0>,
    .q4_0 = multiply_panel<Q4_0>,
    .q4_1 = multiply_panel<Q4_1>,
    .q5_0 = multiply_panel<Q5_0>,
    .q5_1 = multiply_panel<Q5_1>,
    .iq4_nl = multiply_panel<IQ4NL>,
    .mxfp4 = multiply_panel<MXFP4>,
};

}  // namespace ridge::cpu
