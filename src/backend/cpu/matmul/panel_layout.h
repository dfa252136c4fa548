// How weights lie after they were prepared for integer kernels, and how activations lie beside them: plain numbers that
// the packer (panels.cc) and the kernels (panels_*.ISA.cc) share. Little-endian; every record begins on a cache line.
//
// A PANEL is 16 rows of a matrix over its whole length, one row a 32-bit lane. It is one stream of RECORDS; a record
// covers kBlocks blocks of 32 elements: first what scales them, then the levels of each block.
//
// LEVELS are unsigned integers u; the offset that makes them signed is taken back through the sum of the activations.
// A block has 8 groups of 4 elements; element 4 i + t of row r is byte t of lane r of group i. By bits a level:
//   8: groups 0..7, a vector each
//   4: vector j holds group 2 j in the low nibbles and group 2 j + 1 in the high ones
//   5: the 4 vectors of the low nibbles, then for each group 64 bits: bit 4 of the 64 levels
//   6: the 4 vectors of the low nibbles, then 2 vectors of high pairs: vector h holds group 4 h + p in bits 2 p, 2 p +
//   1 2: 2 vectors of pairs;  3: the same, then for each group 64 bits: bit 2 of the levels
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridge::cpu {

inline constexpr int kPanelRows = 16;
inline constexpr int kPanelBlock = 32;  // elements

struct PanelShape {
  int blocks;       // a record
  int scale_bytes;  // a record, a multiple of 64
  int bits;         // a level
};
constexpr size_t level_bytes(int bits) {
  return static_cast<size_t>(bits) * 64;
}
constexpr size_t record_bytes(PanelShape s) {
  return static_cast<size_t>(s.scale_bytes) + static_cast<size_t>(s.blocks) * level_bytes(s.bits);
}

// Scales of a record, 16 values each, f16 unless said otherwise.
inline constexpr PanelShape kPanelQ8_0 = {2, 64, 8};   // d[2]; x = d (u - 128)
inline constexpr PanelShape kPanelQ4_0 = {2, 64, 4};   // d[2]; x = d (u - 8)
inline constexpr PanelShape kPanelQ5_0 = {2, 64, 5};   // d[2]; x = d (u - 16)
inline constexpr PanelShape kPanelQ4_1 = {1, 64, 4};   // d, m; x = d u + m
inline constexpr PanelShape kPanelQ5_1 = {1, 64, 5};   // d, m; x = d u + m
inline constexpr PanelShape kPanelIQ4NL = {2, 64, 4};  // d[2]; x = d value[u]
inline constexpr PanelShape kPanelMXFP4 = {1, 64, 4};  // d as f32, half of the block's scale; x = d value[u]
// d, dmin, then for each block u8 s, u8 m; x = (d s) u - (dmin m)
inline constexpr PanelShape kPanelQ4K = {8, 320, 4};
inline constexpr PanelShape kPanelQ5K = {8, 320, 5};
// d, then 32 bytes of nothing, then for each block i8 s; x = (d s) value[u]
inline constexpr PanelShape kPanelIQ4XS = {8, 192, 4};
// d, then 32 bytes of nothing, then for each half of a block i8 s; x = (d s) (u - 32) or (u - 4)
inline constexpr PanelShape kPanelQ6K = {8, 320, 6};
inline constexpr PanelShape kPanelQ3K = {8, 320, 3};
// d, dmin, then for each half of a block u8: s in the low nibble, m in the high one
inline constexpr PanelShape kPanelQ2K = {8, 320, 2};

// ACTIVATIONS of `width` columns, block after block of kPackedWords * width words, each word of one column beside the
// same word of the others: 8 groups of 4 int8; the scale (f32: x = scale * int8); the sums of the block, of its first
// and of its second half, as negated integers; the first of these as f32. A block that holds a NaN or an infinity has
// the scale NaN.
inline constexpr int kWordScale = 8, kWordSum = 9, kWordSumFirst = 10, kWordSumSecond = 11, kWordSumFloat = 12;
inline constexpr int kPackedWords = 13;
inline constexpr int kMaxPanelColumns = 12;

// How many of n columns the next kernel call takes: the width its activations are packed to. 12 sums, 8 vectors of
// levels and what scales them fill the 32 registers.
constexpr int panel_width(int64_t n) {
  if (n >= 12) return 12;
  if (n >= 7) return 8;
  return n >= 5 ? 6 : static_cast<int>(n);
}

}  // namespace ridge::cpu
