// Panels of the formats with super-blocks of 256.
#include <immintrin.h>

#include "backend/cpu/matmul/panel_vnni_body.h"

namespace ridge::cpu {
namespace {

// The scales of the scales and of the minimums.
struct Heads {
  __m512 d, dmin;
};
struct KHead {
  static RIDGE_INLINE Heads head(const uint8_t* scales) { return {halves_at(scales), halves_at(scales + 32)}; }
};
struct DHead {
  static RIDGE_INLINE __m512 head(const uint8_t* scales) { return halves_at(scales); }
};
// u8 s, u8 m for each block
struct WithMinimum : KHead {
  static RIDGE_INLINE Minimum scale(const Heads& head, const uint8_t* scales, int b) {
    const uint8_t* at = scales + 64 + 32 * b;
    return {_mm512_mul_ps(head.d, unsigned_at(at)), _mm512_mul_ps(head.dmin, unsigned_at(at + 16))};
  }
};
// i8 s for each half of a block
template <int kOffset>
struct WithHalves : DHead {
  static RIDGE_INLINE OffsetHalves<kOffset> scale(__m512 head, const uint8_t* scales, int b) {
    const uint8_t* at = scales + 64 + 32 * b;
    return {_mm512_mul_ps(head, signed_at(at)), _mm512_mul_ps(head, signed_at(at + 16))};
  }
};

struct Q4K : WithMinimum {
  static constexpr PanelShape kShape = kPanelQ4K;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) { nibbles(p, u); }
};
struct Q5K : WithMinimum {
  static constexpr PanelShape kShape = kPanelQ5K;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    nibbles(p, u);
    add_bits(p + 256, 16, u);
  }
};
struct IQ4XS : DHead {
  static constexpr PanelShape kShape = kPanelIQ4XS;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) { looked_up(p, iq4_table(), u); }
  static RIDGE_INLINE Offset<7> scale(__m512 head, const uint8_t* scales, int b) {
    return {_mm512_mul_ps(head, signed_at(scales + 64 + 16 * b))};
  }
};
struct Q6K : WithHalves<5> {
  static constexpr PanelShape kShape = kPanelQ6K;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    nibbles(p, u);
    add_pairs(p + 256, u);
  }
};
struct Q3K : WithHalves<2> {
  static constexpr PanelShape kShape = kPanelQ3K;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) {
    pairs(p, u);
    add_bits(p + 128, 4, u);
  }
};
struct Q2K : KHead {
  static constexpr PanelShape kShape = kPanelQ2K;
  static RIDGE_INLINE void levels(const uint8_t* p, __m512i (&u)[8]) { pairs(p, u); }
  static RIDGE_INLINE MinimumHalves scale(const Heads& head, const uint8_t* scales, int b) {
    const auto bytes = [&](int half) RIDGE_INLINE_LAMBDA {
      const auto* at = reinterpret_cast<const __m128i*>(scales + 64 + 16 * (2 * b + half));
      return _mm512_cvtepu8_epi32(_mm_loadu_si128(at));
    };
    const __m512i low = _mm512_set1_epi32(15), a = bytes(0), c = bytes(1);
    const auto times = [](__m512 f, __m512i v) RIDGE_INLINE_LAMBDA { return _mm512_mul_ps(f, _mm512_cvtepi32_ps(v)); };
    return {times(head.d, _mm512_and_si512(a, low)), times(head.d, _mm512_and_si512(c, low)),
            times(head.dmin, _mm512_srli_epi32(a, 4)), times(head.dmin, _mm512_srli_epi32(c, 4))};
  }
};

}  // namespace

extern const SuperPanelKernels kSuperPanels__avx512_vnni;
constinit const SuperPanelKernels kSuperPanels__avx512_vnni = {
    .q2_k = multiply_panel<Q2K>,
    .q3_k = multiply_panel<Q3K>,
    .q4_k = multiply_panel<Q4K>,
    .q5_k = multiply_panel<Q5K>,
    .q6_k = multiply_panel<Q6K>,
    .iq4_xs = multiply_panel<IQ4XS>,
};

}  // namespace ridge::cpu
