// All kernels of the CPU backend, on one screen: a table of function pointers for each family, and the set of them that
// one instruction set provides.
//
// GUARD. A slot is added here when a format, or an operation that two verbs or more share, gets code of its own; each
// slot is filled for every instruction set or documented as "may be null". Not here: threads, allocation, models,
// shapes of a whole verb, anything that needs a header beyond <cstdint>. This file is included by code compiled for one
// instruction set: plain structs only.
//
// Kernels take views and numbers, allocate nothing, know no threads, never fail. Pointers may have any alignment that
// their type has; packed weights may have any alignment at all.
#pragma once

#include <cstdint>

namespace ridge::cpu {

// THE SUM OF A ROW. out = sum over k of w[k] * x[k] is defined for one instruction set with vectors of L floats as
// follows, and every kernel that forms such a sum (tile, single column, fused or not) keeps it, so that a result's bits
// do not depend on how many rows, columns or threads were at work: k runs in chunks of kSumChunk; inside a chunk, lane
// l takes k = l, l + L, ... in ascending order by fused multiply-add from zero (elements past the end count as zeros);
// lanes are folded in one fixed tree; chunk sums are added in ascending order. 1024: a multiple of every block length;
// four unpacked rows of it are 16 KiB, half of the smallest L1.
inline constexpr int kSumChunk = 1024;

// Rows of f32 weights, `stride` floats apart.
struct RowTile {
  const float* data;
  int64_t stride;
  int32_t rows;
};
// Packed weight rows, `stride` bytes apart.
struct PackedRows {
  const uint8_t* data;
  int64_t stride;
  int32_t rows;
};

struct FormatKernels {
  // n elements from packed blocks to floats, bit for bit what quant/ decodes. n: a multiple of the block.
  void (*unpack)(const uint8_t* blocks, int64_t n, float* out);
  // y[r] = sum of row r of w times x[0, n).
  void (*dot)(PackedRows w, int64_t n, const float* x, float* y);
};

struct MatmulKernels {
  // y[c][r] = (first ? 0 : y[c][r]) + the chunk sum of row r of w and x[c][0, n), for all rows and `cols` columns; n <=
  // kSumChunk.
  void (*tile)(RowTile w, int32_t n, const float* const* x, float* const* y, int32_t cols, bool first);
  FormatKernels f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs,
      mxfp4;  // null on scalar
};

// A run of records of one panel (matmul/panel_layout.h), from the first block of a record on.
struct PanelSlice {
  const uint8_t* records;
  int32_t n_blocks;
};
// y[c][r] = (first ? 0 : y[c][r]) + the sum over the slice's blocks of row r of the panel and column c of x, for n_rows
// rows and n_cols columns; x is packed to the width panel_width(n_cols), columns of y lie y_stride apart. A SUM here is
// defined by blocks of 32 and looks at nothing else (matmul/panel_vnni_body.h).
using PanelMultiply = void (*)(const PanelSlice& w, const int32_t* x, int32_t n_cols, float* y, int64_t y_stride,
                               int32_t n_rows, bool first);
struct SmallPanelKernels {
  PanelMultiply q8_0, q4_0, q4_1, q5_0, q5_1, iq4_nl, mxfp4;
};
struct SuperPanelKernels {
  PanelMultiply q2_k, q3_k, q4_k, q5_k, q6_k, iq4_xs;
};
// Products in integers; all null where an instruction set has none.
struct PanelKernels {
  // Blocks [first_block, end_block) of n_cols columns, `stride` floats apart, to int8; out begins with block 0.
  void (*pack_columns)(const float* x, int64_t stride, int32_t n_cols, int32_t width, int64_t first_block,
                       int64_t end_block, int32_t* out);
  SmallPanelKernels small;
  SuperPanelKernels super;
};

// The running softmax of one query row: m the largest score yet, l the sum of exp(score - m).
struct SoftmaxState {
  float m, l;
};
// How raw products become scores.
struct ScoreRule {
  float scale, softcap;  // softcap 0: none
};
struct AttentionKernels {
  // scores[0, 32) of one row and block: those in [begin, end) become exp(score - new m), the others 0. Returns exp(old
  // m - new m).
  float (*softmax_block)(float* scores, int32_t begin, int32_t end, ScoreRule rule, SoftmaxState* state);
  // acc[r][d] = acc[r][d] * decay[r] + sum over j in [begin, end), ascending, of p[r][j] * v[j][d], for all rows of p
  // (32 apart) and all d < v_dim; acc rows lie v_dim apart, v rows v_stride.
  void (*add_values)(const float* p, const float* decay, int32_t rows, const float* v, int64_t v_stride, int32_t begin,
                     int32_t end, int32_t v_dim, float* acc);
};

struct NormKernels {
  // out = x / rms(x) * w; w may be null; out may be x.
  void (*rms_norm)(const float* x, const float* w, float* out, int64_t n, float eps);
};

struct RopeKernels {
  // Turns the first 2 * n_pairs elements of one head in place. cos and sin have n_pairs entries.
  void (*split_halves)(float* x, const float* cos, const float* sin, int32_t n_pairs);  // pairs (i, i + n_pairs)
  void (*neighbours)(float* x, const float* cos, const float* sin, int32_t n_pairs);    // pairs (2i, 2i + 1)
};

// Element by element over n values; outputs may be inputs.
struct MapKernels {
  void (*add)(const float* a, const float* b, float scale, float* out, int64_t n);  // a + scale * b
  void (*mul)(const float* a, const float* b, float* out, int64_t n);
  void (*scale)(const float* x, float factor, float* out, int64_t n);
  void (*softcap)(const float* x, float cap, float* out, int64_t n);  // cap * tanh(x / cap)
  void (*exp)(const float* x, float shift, float* out, int64_t n);    // exp(x - shift)
  void (*silu)(const float* x, float* out, int64_t n);
  void (*gelu_tanh)(const float* x, float* out, int64_t n);
  void (*gelu_erf)(const float* x, float* out, int64_t n);
  void (*relu)(const float* x, float* out, int64_t n);
  void (*sigmoid)(const float* x, float* out, int64_t n);
  void (*swiglu_oai)(const float* gate, const float* up, float alpha, float limit, float* out, int64_t n);
  // Cache rows: the bits that quant/ encodes.
  void (*encode_f16)(const float* x, uint8_t* out, int64_t n);
  void (*encode_bf16)(const float* x, uint8_t* out, int64_t n);
};

struct KernelSet {
  const char* isa;
  MatmulKernels matmul;
  AttentionKernels attention;
  NormKernels norm;
  RopeKernels rope;
  MapKernels map;
  PanelKernels panels = {};
};

}  // namespace ridge::cpu
