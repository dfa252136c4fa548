// The parts that transformers share: attention, gated MLP, mixture of experts, embedding and head. Each part is its
// weights, how they are bound, and a function that writes its verbs. Architecture files put them together; what only
// one of them does stays there. Shapes in comments are rows x columns of activations; n is the step's rows.
#pragma once

#include <cstdint>

#include "model/binder.h"
#include "model/hparams.h"
#include "model/model.h"
#include "model/rope.h"

namespace ridge {

// ---- attention
// ------------------------------------------------------------------------------------------------------------------

// Published files hold the three projections apart (q, k, v) or one under the other (qkv). Empty weights are not there.
struct AttentionWeights {
  Weight qkv, qkv_bias;
  Weight q, k, v, q_bias, k_bias, v_bias;
  Weight q_norm, k_norm;  // of each head, Qwen3
  Weight o, o_bias;
  Weight sinks;  // a logit a head, gpt-oss
};

struct AttentionParts {
  bool qkv_bias_needed = false;  // else: all three or none in a layer
  bool o_bias_needed = false;
  bool qk_norm = false;
  bool sinks = false;
};
void bind_attention(Binder& b, AttentionWeights& w, const Hparams& h, int32_t layer, AttentionParts parts);

struct AttentionSpec {
  int32_t layer = 0, n_head = 0, n_head_kv = 0, k_dim = 0, v_dim = 0;
  float scale = 0;  // of q.k
  float softcap = 0;
  int32_t window = 0;
  const RopeSpec* rope = nullptr;  // nullptr: no positions
  float eps = 0;                   // of q_norm and k_norm
  float temperature_scale = 0;
  int32_t temperature_length = 1;
};
// Scale 1/sqrt(head_dim), no window, no cap.
AttentionSpec attention_spec(const Hparams& h, int32_t layer, const RopeSpec* rope);

// What the layer keeps of it.
LayerState kv_state(const AttentionSpec& spec);

// For the widest layer of the model.
struct AttentionScratch {
  Act qkv;  // n x (q | k | v)
  Act out;  // n x n_head*v_dim
};
AttentionScratch attention_scratch(Encoder& e, const Hparams& h);

// out = Attention(x): n x n_embd each; may not be the same matrix as anything in the scratch, x and out may be one.
void attention(Encoder& e, const AttentionWeights& w, const AttentionSpec& spec, const AttentionScratch& s, Act x,
               Act out);

// ---- MLP
// -------------------------------------------------------------------------------------------------------------------

// Gate and up apart, or one under the other in `up` (gate first) as Phi-3 and GLM-4 files have them.
struct MlpWeights {
  Weight gate, up, down;
  Weight gate_bias, up_bias, down_bias;
};
enum class MlpLayout : uint8_t { separate, fused };
void bind_mlp(Binder& b, MlpWeights& w, int32_t n_embd, int32_t n_ff, int32_t layer, MlpLayout layout);

struct MlpScratch {
  Act gate_up;  // n x (gate | up)
};
MlpScratch mlp_scratch(Encoder& e, int32_t n_ff_max);

// out = down(fn(gate(x)) * up(x)): n x n_embd each.
void gated_mlp(Encoder& e, const MlpWeights& w, ActFn fn, const MlpScratch& s, Act x, Act out);

// ---- mixture of experts
// ---------------------------------------------------------------------------------------------------------

struct MoeWeights {
  Weight router, router_bias;  // n_embd -> n_expert
  Weight gate_up;              // gate and up of each expert, one under the other; else:
  Weight gate, up;
  Weight down;
  Weight gate_up_bias, gate_bias, up_bias, down_bias;  // a row an expert
};
void bind_moe(Binder& b, MoeWeights& w, int32_t n_embd, const MoeHparams& m, int32_t layer, bool biases_needed);

struct MoeSpec {
  MoeHparams hparams;
  verb::Gating gating = verb::Gating::softmax;
  ActFn fn = ActFn::silu;
};

struct MoeScratch {
  Act logits;   // n x n_expert
  ActIds ids;   // n x n_used
  Act weights;  // n x n_used
  Act gate_up;  // n*n_used x (gate | up)
  Act down;     // n*n_used x n_embd
};
MoeScratch moe_scratch(Encoder& e, const MoeHparams& m, int32_t n_embd);

// out = sum over the chosen experts of weight * expert(x): n x n_embd each.
void moe(Encoder& e, const MoeWeights& w, const MoeSpec& spec, const MoeScratch& s, Act x, Act out);

// ---- feed-forward of models that come in both kinds
// ------------------------------------------------------------------------------

struct FfnWeights {
  MlpWeights dense;
  MoeWeights experts;
};
struct FfnScratch {
  MlpScratch dense;
  MoeScratch experts;
};
// Experts where m.n_expert > 0, else a gated MLP of the layer's own width.
void bind_ffn(Binder& b, FfnWeights& w, const Hparams& h, const MoeHparams& m, int32_t layer);
FfnScratch ffn_scratch(Encoder& e, const Hparams& h, const MoeHparams& m);
// SiLU; experts chosen by a softmax over all.
void ffn(Encoder& e, const FfnWeights& w, const MoeHparams& m, const FfnScratch& s, Act x, Act out);

// ---- embedding and head
// ---------------------------------------------------------------------------------------------------------

struct HeadWeights {
  Weight token_embd;  // n_vocab x n_embd
  Weight output_norm;
  Weight output, output_bias;  // the embedding again where the file has no output.weight (tied)
};
enum class Tied : uint8_t { never, if_absent, always };
void bind_head(Binder& b, HeadWeights& w, const Hparams& h, Tied tied);

// x = the tokens' rows of the embedding, times scale.
void embed(Encoder& e, const HeadWeights& w, Act x, float scale = 1.0f);

// The rows of x whose logits are wanted, normalised and multiplied with the output matrix; becomes the step's logits,
// which come back for what an architecture does to them (empty where no row is wanted).
Act head(Encoder& e, const HeadWeights& w, float eps, Act x);

// The widest feed-forward of all layers.
int32_t widest_ff(const Hparams& h);
// "blk.7.attn_norm.weight"
std::string layer_name(int32_t layer, std::string_view part);
// A vector of n_embd under that name.
void bind_norm(Binder& b, Weight& w, const Hparams& h, int32_t layer, std::string_view part);

}  // namespace ridge
