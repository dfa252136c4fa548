// The verbs: everything that a backend must be able to do, and the flat list of them that one step is.
//
// GUARD. A verb may be added here when a published architecture needs arithmetic that no verb and no pair of verbs
// gives; it comes with its cost (encoder.cc), its reference body and its conformance test in the same change. Not here:
// devices, kernels, threads, model names, fused forms whose parts exist (those are a backend's private matter). The
// list was drafted against dense, mixture-of-experts, latent-attention and linear-attention models:
// docs/decisions/0002-verbs.md. It stays at 30 or fewer.
//
// All activations are f32 matrices in one arena, row = token. Element-wise verbs, RmsNorm and Rope may write over their
// input, no other verb may. Thread-safety: a Program is built and run by the engine thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "account/traffic.h"
#include "backend/weight.h"

namespace ridge {

// A matrix inside the step's arena: rows x cols f32, consecutive rows `stride` floats apart.
struct Act {
  int64_t offset = 0;  // in floats from the arena's start
  int32_t rows = 0, cols = 0, stride = 0;

  Act columns(int32_t first, int32_t n) const { return {offset + first, rows, n, stride}; }
  bool contiguous() const { return stride == cols; }
};

// 32-bit integers in the same arena (expert choices).
struct ActIds {
  int64_t offset = 0;
  int32_t rows = 0, cols = 0;
};

inline constexpr int32_t kKvBlockPositions = 32;

// Where one layer's keys and values lie: blocks of 32 positions, inside a block [position][kv head][head_dim] in the
// given type.
struct KvLayer {
  DType k_type = DType::f16, v_type = DType::f16;
  int32_t n_kv_head = 0, k_dim = 0, v_dim = 0;  // head_dim of keys and of values
  std::byte* k = nullptr;
  std::byte* v = nullptr;

  size_t k_row_bytes() const { return row_bytes(k_type, int64_t{n_kv_head} * k_dim); }
  size_t v_row_bytes() const { return row_bytes(v_type, int64_t{n_kv_head} * v_dim); }
  std::byte* k_row(int32_t block, int32_t in_block) const {
    return k + (static_cast<size_t>(block) * kKvBlockPositions + static_cast<size_t>(in_block)) * k_row_bytes();
  }
  std::byte* v_row(int32_t block, int32_t in_block) const {
    return v + (static_cast<size_t>(block) * kKvBlockPositions + static_cast<size_t>(in_block)) * v_row_bytes();
  }
};

// Rows [row0, row0 + n_rows) of the step are positions pos0, pos0 + 1, ... of one sequence. `blocks` covers pos0 +
// n_rows positions.
struct SeqSpan {
  int32_t row0 = 0, n_rows = 0, pos0 = 0;
  std::span<const int32_t> blocks;
};

// What a step works on; the spans outlive the step.
struct StepInput {
  std::span<const int32_t> tokens;    // one a row
  std::span<const SeqSpan> seqs;      // cover all rows, in order
  std::span<const int32_t> out_rows;  // rows whose logits are wanted, ascending
  std::span<const KvLayer> kv;        // indexed by KvAppend::layer and Attention::layer
};

// Rotary embedding of one kind of layer, worked out at load: angle = position * inv_freq[i].
struct RopeSpec {
  std::vector<float> inv_freq;  // n_rot / 2 values; scaling (linear, YaRN, Llama 3, long factors) is already inside
  float magnitude = 1.0f;       // cos and sin are multiplied by this (YaRN's attention factor)
  bool split_halves = false;    // pairs (i, i + n_rot/2), "NeoX"; else (2i, 2i + 1)
  int32_t n_rot() const { return static_cast<int32_t>(inv_freq.size()) * 2; }
};

enum class ActFn : uint8_t { silu, gelu_tanh, gelu_erf, relu, sigmoid, swiglu_oai };

namespace verb {

// out[r] = scale * table[tokens[r]]
struct Embed {
  const Weight* table;
  Act out;
  float scale;
};
// Each group of `group` columns (the whole row when it equals x.cols) is divided by its root mean square; times w if
// given.
struct RmsNorm {
  Act x;
  const Weight* w;
  Act out;
  float eps;
  int32_t group;
};
// out = x W^T + bias
struct MatMul {
  Act x;
  const Weight* w;
  const Weight* bias;
  Act out;
};
// out = a + scale * b. out may be a or b.
struct Add {
  Act a, b, out;
  float scale;
};
// out = a * b; b may have one column, which then multiplies the whole row.
struct Mul {
  Act a, b, out;
};
struct Scale {
  Act x, out;
  float factor;
};
// out = cap * tanh(x / cap)
struct Softcap {
  Act x, out;
  float cap;
};
struct Activate {
  Act x, out;
  ActFn fn;
};
// out = fn(gate) * up. swiglu_oai: g = min(gate, limit), u = clamp(up, -limit, limit), out = g * sigmoid(alpha g) * (u
// + 1).
struct Gated {
  Act gate, up, out;
  ActFn fn;
  float alpha, limit;
};
// In place on each head_dim-wide head of x; the first spec->n_rot() dims of a head turn, the rest stay.
struct Rope {
  Act x;
  int32_t head_dim;
  const RopeSpec* spec;
};
// Writes the step's rows into the cache of KV layer `layer`.
struct KvAppend {
  Act k, v;
  int32_t layer;
};
// Causal attention of each row over its own sequence; heads share KV heads in groups. Scores: q.k * scale, softcapped
// when softcap > 0, only positions > own - window when window > 0; `sinks` (a logit a head) joins the softmax sum
// without a value. temperature_scale > 0: q is first multiplied by 1 + temperature_scale * log(1 + floor(position /
// temperature_length)).
struct Attention {
  Act q, out;
  int32_t layer, n_head;
  float scale, softcap;
  int32_t window;
  const Weight* sinks;
  float temperature_scale;
  int32_t temperature_length;
};
enum class Gating : uint8_t { softmax, sigmoid, softmax_of_chosen };
// The n_used best experts of each row by gate value (+ selection bias, which does not enter the weight), best first;
// ties go to the lower index. weights: the gate values, normalised to sum 1 when `normalise`, times scale.
struct Router {
  Act logits;
  const Weight* selection_bias;
  ActIds ids;
  Act weights;
  Gating gating;
  bool normalise;
  float scale;
};
// Row r * n_used + j of out = W[ids[r][j]] x_row + bias[ids[r][j]]; x_row is row r of x, or row r * n_used + j when x
// has that many.
struct ExpertMatMul {
  Act x;
  ActIds ids;
  const Weight* w;
  const Weight* bias;
  Act out;
};
// out[r] = sum over j of weights[r][j] * x[r * n_used + j]
struct ExpertCombine {
  Act x, weights, out;
};
// out[i] = x[out_rows[i]]
struct GatherRows {
  Act x, out;
};

}  // namespace verb

using VerbBody = std::variant<verb::Embed, verb::RmsNorm, verb::MatMul, verb::Add, verb::Mul, verb::Scale,
                              verb::Softcap, verb::Activate, verb::Gated, verb::Rope, verb::KvAppend, verb::Attention,
                              verb::Router, verb::ExpertMatMul, verb::ExpertCombine, verb::GatherRows>;
inline constexpr size_t kVerbCount = std::variant_size_v<VerbBody>;

// Names in the order of VerbBody, as traces and tables show them: "matmul", "attention", ...
std::string_view verb_name(const VerbBody& body);

struct Verb {
  VerbBody body;
  Traffic cost;
  int16_t layer = -1;      // transformer layer, -1 outside (embedding, head)
  std::string_view label;  // what the model calls it: "attn_q", "ffn_down"; static storage
};

struct Program {
  StepInput input;
  std::vector<Verb> verbs;
  int64_t arena_floats = 0;  // arena that the step needs
  Act logits;                // one row for each of input.out_rows

  Traffic total() const;
};

}  // namespace ridge
