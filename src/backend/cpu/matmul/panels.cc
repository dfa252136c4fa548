// Packs rows of the file's blocks into panels (panel_layout.h). Built with baseline flags: it runs once, at load, on
// all threads, and is bound by memory. Which bits of a block are which: quant/.
#include "backend/cpu/matmul/panels.h"

#include <algorithm>
#include <cstring>

#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/k_scales.h"
#include "quant/mxfp4.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace ridge::cpu {
namespace {

// Four levels as a word.
uint32_t group(const uint8_t* levels, int i) {
  uint32_t w;
  std::memcpy(&w, levels + 4 * i, sizeof w);
  return w;
}
void put(uint8_t* at, uint32_t w) {
  std::memcpy(at, &w, sizeof w);
}
template <class T>
void put_scale(uint8_t* scales, int row, T value) {
  std::memcpy(scales + static_cast<size_t>(row) * sizeof value, &value, sizeof value);
}

void put_nibbles(const uint8_t* u, int row, uint8_t* out) {
  for (int j = 0; j < 4; ++j)
    put(out + 64 * j + 4 * row, (group(u, 2 * j) & 0x0F0F0F0Fu) | (group(u, 2 * j + 1) & 0x0F0F0F0Fu) << 4);
}
// Bits `shift`, `shift + 1` of each level.
void put_pairs(const uint8_t* u, int row, int shift, uint8_t* out) {
  for (int h = 0; h < 2; ++h) {
    uint32_t w = 0;
    for (int p = 0; p < 4; ++p) w |= ((group(u, 4 * h + p) >> shift) & 0x03030303u) << (2 * p);
    put(out + 64 * h + 4 * row, w);
  }
}
// Bit `shift` of each level, four bits a row.
void put_bits(const uint8_t* u, int row, int shift, uint8_t* out) {
  for (int i = 0; i < 8; ++i) {
    // The product brings the lowest bit of each byte to the top, in order.
    const uint32_t bits = (((group(u, i) >> shift) & 0x01010101u) * 0x10204080u) >> 28;
    uint8_t& byte = out[8 * i + row / 2];
    byte = static_cast<uint8_t>(byte | bits << (4 * (row % 2)));
  }
}

// The 32 levels of one row's block.
template <int kBits>
void put_levels(const uint8_t* u, int row, uint8_t* out) {
  if constexpr (kBits == 8) {
    for (int i = 0; i < 8; ++i) put(out + 64 * i + 4 * row, group(u, i));
  } else if constexpr (kBits >= 4) {
    put_nibbles(u, row, out);
    if constexpr (kBits == 6) put_pairs(u, row, 4, out + 256);
    if constexpr (kBits == 5) put_bits(u, row, 4, out + 256);
  } else {
    put_pairs(u, row, 0, out);
    if constexpr (kBits == 3) put_bits(u, row, 2, out + 128);
  }
}

// Eight bytes as a word, so that a shift moves all of them; what crosses into a neighbour is masked away.
uint64_t eight(const uint8_t* p) {
  uint64_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}
void put_eight(uint8_t* p, uint64_t w) {
  std::memcpy(p, &w, sizeof w);
}
constexpr uint64_t each(uint64_t byte) {
  return byte * 0x0101010101010101u;
}

void halves(const uint8_t* qs, uint8_t* u) {
  for (int j = 0; j < 16; j += 8) {
    const uint64_t w = eight(qs + j);
    put_eight(u + j, w & each(15));
    put_eight(u + 16 + j, (w >> 4) & each(15));
  }
}
void fifth_bits(uint32_t qh, uint8_t* u) {
  for (int j = 0; j < 32; ++j) u[j] = static_cast<uint8_t>(u[j] | ((qh >> j) & 1) << 4);
}

// One reader a format: `read` puts the levels of block b of a record's row (`block` is the first of its blocks in the
// file) into u and the block's scales into the record's.
struct Q8_0 {
  using Block = quant::BlockQ8_0;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    for (int j = 0; j < 32; ++j) u[j] = static_cast<uint8_t>(block[b].qs[j] ^ 0x80);
    put_scale<uint16_t>(scales + 32 * b, row, block[b].d);
  }
};
template <class B>
struct Nibbles {  // q4_0, iq4_nl
  using Block = B;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    halves(block[b].qs, u);
    put_scale<uint16_t>(scales + 32 * b, row, block[b].d);
  }
};
struct Q5_0 {
  using Block = quant::BlockQ5_0;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    halves(block[b].qs, u);
    fifth_bits(block[b].qh, u);
    put_scale<uint16_t>(scales + 32 * b, row, block[b].d);
  }
};
struct Q4_1 {
  using Block = quant::BlockQ4_1;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    halves(block[b].qs, u);
    put_scale<uint16_t>(scales, row, block[b].d);
    put_scale<uint16_t>(scales + 32, row, block[b].m);
  }
};
struct Q5_1 {
  using Block = quant::BlockQ5_1;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    halves(block[b].qs, u);
    fifth_bits(block[b].qh, u);
    put_scale<uint16_t>(scales, row, block[b].d);
    put_scale<uint16_t>(scales + 32, row, block[b].m);
  }
};
struct MXFP4 {
  using Block = quant::BlockMXFP4;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    halves(block[b].qs, u);
    const uint32_t e = block[b].e;
    put_scale<uint32_t>(scales, row, e < 2 ? 0x00200000u << e : (e - 1) << 23);
  }
};
void k_scales(const uint8_t* packed, int b, int row, uint8_t* scales) {
  const quant::ScaleMin s = quant::k_scale_min(packed, b);
  scales[64 + 32 * b + row] = s.scale;
  scales[64 + 32 * b + 16 + row] = s.min;
}
struct Q4K {
  using Block = quant::BlockQ4K;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    for (int l = 0; l < 32; l += 8) put_eight(u + l, (eight(block->qs + 32 * (b / 2) + l) >> (4 * (b % 2))) & each(15));
    put_scale<uint16_t>(scales, row, block->d);
    put_scale<uint16_t>(scales + 32, row, block->dmin);
    k_scales(block->scales, b, row, scales);
  }
};
struct Q5K {
  using Block = quant::BlockQ5K;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    for (int l = 0; l < 32; l += 8) {
      const uint64_t low = (eight(block->qs + 32 * (b / 2) + l) >> (4 * (b % 2))) & each(15);
      put_eight(u + l, low | ((eight(block->qh + l) >> b) & each(1)) << 4);
    }
    put_scale<uint16_t>(scales, row, block->d);
    put_scale<uint16_t>(scales + 32, row, block->dmin);
    k_scales(block->scales, b, row, scales);
  }
};
struct IQ4XS {
  using Block = quant::BlockIQ4XS;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    halves(block->qs + 16 * b, u);
    const int low = (block->scales_l[b / 2] >> (4 * (b % 2))) & 15, high = (block->scales_h >> (2 * b)) & 3;
    put_scale<uint16_t>(scales, row, block->d);
    scales[64 + 16 * b + row] = static_cast<uint8_t>((low | high << 4) - 32);
  }
};
struct Q6K {
  using Block = quant::BlockQ6K;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    const int half = b / 4, k = b % 4;
    for (int l = 0; l < 32; l += 8) {
      const uint64_t low = (eight(block->ql + 64 * half + 32 * (k % 2) + l) >> (4 * (k / 2))) & each(15);
      put_eight(u + l, low | ((eight(block->qh + 32 * half + l) >> (2 * k)) & each(3)) << 4);
    }
    put_scale<uint16_t>(scales, row, block->d);
    for (int h = 0; h < 2; ++h) scales[64 + 16 * (2 * b + h) + row] = static_cast<uint8_t>(block->scales[2 * b + h]);
  }
};
struct Q3K {
  using Block = quant::BlockQ3K;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    for (int l = 0; l < 32; l += 8) {
      const uint64_t low = (eight(block->qs + 32 * (b / 4) + l) >> (2 * (b % 4))) & each(3);
      put_eight(u + l, low | ((eight(block->hmask + l) >> b) & each(1)) << 2);
    }
    put_scale<uint16_t>(scales, row, block->d);
    for (int g = 2 * b; g < 2 * b + 2; ++g) {
      const int low = (block->scales[g % 8] >> (4 * (g / 8))) & 15;
      const int high = (block->scales[8 + g % 4] >> (2 * (g / 4))) & 3;
      scales[64 + 16 * g + row] = static_cast<uint8_t>((low | high << 4) - 32);
    }
  }
};
struct Q2K {
  using Block = quant::BlockQ2K;
  static void read(const Block* block, int b, int row, uint8_t* u, uint8_t* scales) {
    for (int l = 0; l < 32; l += 8) put_eight(u + l, (eight(block->qs + 32 * (b / 4) + l) >> (2 * (b % 4))) & each(3));
    put_scale<uint16_t>(scales, row, block->d);
    put_scale<uint16_t>(scales + 32, row, block->dmin);
    for (int g = 2 * b; g < 2 * b + 2; ++g) scales[64 + 16 * g + row] = block->scales[g];
  }
};

// Record by record, all rows of one before the next: what is written stays in L1.
template <class F, PanelShape kShape>
void pack_rows(const PanelMatrix& m, const std::byte* rows, size_t row_size, int n_rows, uint8_t* panel) {
  constexpr size_t kLevels = level_bytes(kShape.bits);
  constexpr int64_t kFileBlocks = F::Block::kElems == kPanelBlock ? kShape.blocks : 1;
  for (int64_t at = 0, block = 0; at < m.n_blocks; at += kShape.blocks, block += kFileBlocks) {
    const int n = static_cast<int>(std::min<int64_t>(kShape.blocks, m.n_blocks - at));
    for (int row = 0; row < n_rows; ++row) {
      const auto* from = reinterpret_cast<const typename F::Block*>(rows + static_cast<size_t>(row) * row_size) + block;
      for (int b = 0; b < n; ++b) {
        alignas(64) uint8_t u[kPanelBlock];
        F::read(from, b, row, u, panel);
        put_levels<kShape.bits>(u, row, panel + kShape.scale_bytes + static_cast<size_t>(b) * kLevels);
      }
    }
    panel += record_bytes(kShape);
  }
}

using PackRows = void (*)(const PanelMatrix&, const std::byte*, size_t, int, uint8_t*);
struct Row {
  DType type;
  PanelShape shape;
  PackRows pack;
};
constexpr Row kFormats[] = {
    {DType::q8_0, kPanelQ8_0, pack_rows<Q8_0, kPanelQ8_0>},
    {DType::q4_0, kPanelQ4_0, pack_rows<Nibbles<quant::BlockQ4_0>, kPanelQ4_0>},
    {DType::q4_1, kPanelQ4_1, pack_rows<Q4_1, kPanelQ4_1>},
    {DType::q5_0, kPanelQ5_0, pack_rows<Q5_0, kPanelQ5_0>},
    {DType::q5_1, kPanelQ5_1, pack_rows<Q5_1, kPanelQ5_1>},
    {DType::iq4_nl, kPanelIQ4NL, pack_rows<Nibbles<quant::BlockIQ4NL>, kPanelIQ4NL>},
    {DType::mxfp4, kPanelMXFP4, pack_rows<MXFP4, kPanelMXFP4>},
    {DType::q2_k, kPanelQ2K, pack_rows<Q2K, kPanelQ2K>},
    {DType::q3_k, kPanelQ3K, pack_rows<Q3K, kPanelQ3K>},
    {DType::q4_k, kPanelQ4K, pack_rows<Q4K, kPanelQ4K>},
    {DType::q5_k, kPanelQ5K, pack_rows<Q5K, kPanelQ5K>},
    {DType::q6_k, kPanelQ6K, pack_rows<Q6K, kPanelQ6K>},
    {DType::iq4_xs, kPanelIQ4XS, pack_rows<IQ4XS, kPanelIQ4XS>},
};

const Row* find_row(DType type) {
  for (const Row& row : kFormats) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

PanelMatrix plan_panels(const KernelSet& kernels, const Weight& weight) {
  const Row* row = find_row(weight.dtype());
  const PanelMultiply multiply = panel_kernel(kernels, weight.dtype());
  if (row == nullptr || multiply == nullptr || weight.table_only || weight.exact_activations || weight.n_mats != 1 ||
      weight.out < 2 || weight.in > kMaxPanelRow) {
    return {};
  }
  PanelMatrix m = {.shape = row->shape, .multiply = multiply, .in = weight.in, .out = weight.out};
  m.n_blocks = weight.in / kPanelBlock;
  m.n_panels = (weight.out + kPanelRows - 1) / kPanelRows;
  m.panel_bytes =
      static_cast<size_t>((m.n_blocks + row->shape.blocks - 1) / row->shape.blocks) * record_bytes(row->shape);
  return m;
}

void pack_panel(const PanelMatrix& m, const Weight& weight, int64_t p) {
  const int64_t first = p * kPanelRows, n = std::min<int64_t>(kPanelRows, m.out - first);
  find_row(weight.dtype())
      ->pack(m, weight.host.row(first), row_bytes(weight.dtype(), m.in), static_cast<int>(n),
             m.data + static_cast<size_t>(p) * m.panel_bytes);
}

}  // namespace ridge::cpu
