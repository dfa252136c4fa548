// The constant tables of the IQ and FP4 formats, for decoders here and kernels in backend/: plain aggregates, no
// functions, so that files compiled for one instruction set may use them. Element i of a grid entry is the byte at
// address i (little-endian). Truth: ggml (MIT); see iq_tables.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridge::quant {

template <size_t N>
struct Grid8 {
  alignas(64) uint64_t entry[N];  // 8 elements an entry
};
template <size_t N>
struct Grid4 {
  alignas(64) uint32_t entry[N];  // 4 elements an entry
};
struct EvenSigns {
  alignas(64) uint8_t entry[128];  // bit i set: element i is negative; an even number of bits is set
};
struct Values16 {
  alignas(16) int8_t value[16];
};

extern const Grid8<2048> kIq1sGrid;   // int8 in {-1, 0, 1}; iq1_s and iq1_m
extern const Grid8<256> kIq2xxsGrid;  // uint8 in {8, 25, 43}
extern const Grid8<512> kIq2xsGrid;
extern const Grid8<1024> kIq2sGrid;
extern const Grid4<256> kIq3xxsGrid;  // uint8 in {4, 12, 20, 28, 36, 44, 52, 62}
extern const Grid4<512> kIq3sGrid;    // uint8 in {1, 3, ..., 15}
extern const EvenSigns kEvenSigns;    // iq2_xxs, iq2_xs, iq3_xxs: from the seven sign bits that are stored to eight
extern const Values16 kIq4Values;     // iq4_nl, iq4_xs
extern const Values16 kFp4Values;     // mxfp4, nvfp4: twice the value of each E2M1 code (so that 0.5 is an integer too)

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blocks and grids are read as little-endian words");

}  // namespace ridge::quant
