#include "model/blocks.h"

#include <algorithm>
#include <cmath>

namespace ridge {
namespace {

const Weight* if_any(const Weight& w) {
  return w ? &w : nullptr;
}

int32_t most(const std::vector<int32_t>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

std::string layer_name(int32_t layer, std::string_view part) {
  return fmt::format("blk.{}.{}", layer, part);
}

int32_t widest_ff(const Hparams& h) {
  return most(h.n_ff);
}

void bind_norm(Binder& b, Weight& w, const Hparams& h, int32_t layer, std::string_view part) {
  b.need(w, layer_name(layer, part), {{h.n_embd, "n_embd"}});
}

// ---- attention
// ------------------------------------------------------------------------------------------------------------------

namespace {

void bind_qkv(Binder& b, AttentionWeights& w, const Hparams& h, int32_t layer, bool bias_needed) {
  const size_t l = static_cast<size_t>(layer);
  const int64_t n_q = int64_t{h.n_head[l]} * h.k_dim, n_k = int64_t{h.n_head_kv[l]} * h.k_dim,
                n_v = int64_t{h.n_head_kv[l]} * h.v_dim;
  const Dim in{h.n_embd, "n_embd"}, all{n_q + n_k + n_v, "(n_head + n_head_kv)*key_length + n_head_kv*value_length"};
  const Dim q{n_q, "n_head*key_length"}, k{n_k, "n_head_kv*key_length"}, v{n_v, "n_head_kv*value_length"};
  const auto name = [&](std::string_view part) { return layer_name(layer, part); };
  if (b.has(name("attn_qkv.weight"))) {
    b.need(w.qkv, name("attn_qkv.weight"), {in, all});
    if (bias_needed) {
      b.need(w.qkv_bias, name("attn_qkv.bias"), {all});
    } else {
      b.maybe(w.qkv_bias, name("attn_qkv.bias"), {all});
    }
    return;
  }
  if (!b.has(name("attn_q.weight"))) {
    return b.refuse(
        {ErrorCode::not_found,
         fmt::format("tensor '{}' is missing, expected shape {}; there is no '{}' either, expected shape {}",
                     name("attn_q.weight"), describe_shape({in, q}), name("attn_qkv.weight"),
                     describe_shape({in, all}))});
  }
  b.need(w.q, name("attn_q.weight"), {in, q});
  b.need(w.k, name("attn_k.weight"), {in, k});
  b.need(w.v, name("attn_v.weight"), {in, v});
  // Models have all three biases or none; one alone is a file that lost something.
  if (bias_needed || b.has(name("attn_q.bias")) || b.has(name("attn_k.bias")) || b.has(name("attn_v.bias"))) {
    b.need(w.q_bias, name("attn_q.bias"), {q});
    b.need(w.k_bias, name("attn_k.bias"), {k});
    b.need(w.v_bias, name("attn_v.bias"), {v});
  }
}

}  // namespace

void bind_attention(Binder& b, AttentionWeights& w, const Hparams& h, int32_t layer, AttentionParts parts) {
  const size_t l = static_cast<size_t>(layer);
  const Dim out{h.n_embd, "n_embd"}, head{h.k_dim, "key_length"};
  bind_qkv(b, w, h, layer, parts.qkv_bias_needed);
  if (parts.qk_norm) {
    b.need(w.q_norm, layer_name(layer, "attn_q_norm.weight"), {head});
    b.need(w.k_norm, layer_name(layer, "attn_k_norm.weight"), {head});
  }
  b.need(w.o, layer_name(layer, "attn_output.weight"), {{int64_t{h.n_head[l]} * h.v_dim, "n_head*value_length"}, out});
  if (parts.o_bias_needed) {
    b.need(w.o_bias, layer_name(layer, "attn_output.bias"), {out});
  } else {
    b.maybe(w.o_bias, layer_name(layer, "attn_output.bias"), {out});
  }
  if (parts.sinks) b.need(w.sinks, layer_name(layer, "attn_sinks.weight"), {{h.n_head[l], "n_head"}});
}

AttentionSpec attention_spec(const Hparams& h, int32_t layer, const RopeSpec* rope) {
  const size_t l = static_cast<size_t>(layer);
  return {.layer = layer,
          .n_head = h.n_head[l],
          .n_head_kv = h.n_head_kv[l],
          .k_dim = h.k_dim,
          .v_dim = h.v_dim,
          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(h.k_dim))),
          .rope = rope,
          .eps = h.eps};
}

LayerState kv_state(const AttentionSpec& spec) {
  return {.kind = spec.window > 0 ? LayerStateKind::window : LayerStateKind::full,
          .n_kv_head = spec.n_head_kv,
          .k_dim = spec.k_dim,
          .v_dim = spec.v_dim,
          .window = spec.window};
}

AttentionScratch attention_scratch(Encoder& e, const Hparams& h) {
  const int32_t n_head = most(h.n_head), n_head_kv = most(h.n_head_kv);
  return {.qkv = e.act(e.n_rows(), (n_head + n_head_kv) * h.k_dim + n_head_kv * h.v_dim),
          .out = e.act(e.n_rows(), n_head * h.v_dim)};
}

void attention(Encoder& e, const AttentionWeights& w, const AttentionSpec& spec, const AttentionScratch& s, Act x,
               Act out) {
  const int32_t n_q = spec.n_head * spec.k_dim, n_k = spec.n_head_kv * spec.k_dim, n_v = spec.n_head_kv * spec.v_dim;
  const Act q = s.qkv.columns(0, n_q), k = s.qkv.columns(n_q, n_k), v = s.qkv.columns(n_q + n_k, n_v);
  const Act mixed = s.out.columns(0, spec.n_head * spec.v_dim);
  if (w.qkv) {
    e.matmul("attn_qkv", x, w.qkv, if_any(w.qkv_bias), s.qkv.columns(0, n_q + n_k + n_v));
  } else {
    e.matmul("attn_q", x, w.q, if_any(w.q_bias), q);
    e.matmul("attn_k", x, w.k, if_any(w.k_bias), k);
    e.matmul("attn_v", x, w.v, if_any(w.v_bias), v);
  }
  if (w.q_norm) {
    e.rms_norm("attn_q_norm", q, &w.q_norm, q, spec.eps, spec.k_dim);
    e.rms_norm("attn_k_norm", k, &w.k_norm, k, spec.eps, spec.k_dim);
  }
  if (spec.rope != nullptr && spec.rope->n_rot() > 0) {
    e.rope("rope_q", q, spec.k_dim, *spec.rope);
    e.rope("rope_k", k, spec.k_dim, *spec.rope);
  }
  e.kv_append("kv_append", k, v, spec.layer);
  e.attention("attention", {.q = q,
                            .out = mixed,
                            .layer = spec.layer,
                            .n_head = spec.n_head,
                            .scale = spec.scale,
                            .softcap = spec.softcap,
                            .window = spec.window,
                            .sinks = if_any(w.sinks),
                            .temperature_scale = spec.temperature_scale,
                            .temperature_length = spec.temperature_length});
  e.matmul("attn_output", mixed, w.o, if_any(w.o_bias), out);
}

// ---- MLP
// -------------------------------------------------------------------------------------------------------------------

void bind_mlp(Binder& b, MlpWeights& w, int32_t n_embd, int32_t n_ff, int32_t layer, MlpLayout layout) {
  const Dim embd{n_embd, "n_embd"}, ff{n_ff, "n_ff"}, ff2{int64_t{2} * n_ff, "2*n_ff"};
  if (n_ff == 0) {
    return b.refuse({ErrorCode::bad_file,
                     fmt::format("layer {} needs a 'feed_forward_length' above 0 and the file gives none", layer)});
  }
  const auto name = [&](std::string_view part) { return layer_name(layer, part); };
  if (layout == MlpLayout::fused) {
    b.need(w.up, name("ffn_up.weight"), {embd, ff2});
    b.maybe(w.up_bias, name("ffn_up.bias"), {ff2});
  } else {
    b.need(w.gate, name("ffn_gate.weight"), {embd, ff});
    b.need(w.up, name("ffn_up.weight"), {embd, ff});
    b.maybe(w.gate_bias, name("ffn_gate.bias"), {ff});
    b.maybe(w.up_bias, name("ffn_up.bias"), {ff});
  }
  b.need(w.down, name("ffn_down.weight"), {ff, embd});
  b.maybe(w.down_bias, name("ffn_down.bias"), {embd});
}

MlpScratch mlp_scratch(Encoder& e, int32_t n_ff_max) {
  return {e.act(e.n_rows(), 2 * n_ff_max)};
}

void gated_mlp(Encoder& e, const MlpWeights& w, ActFn fn, const MlpScratch& s, Act x, Act out) {
  const int32_t n_ff = static_cast<int32_t>(w.down.in);
  const Act gate = s.gate_up.columns(0, n_ff), up = s.gate_up.columns(n_ff, n_ff);
  if (w.gate) {
    e.matmul("ffn_gate", x, w.gate, if_any(w.gate_bias), gate);
    e.matmul("ffn_up", x, w.up, if_any(w.up_bias), up);
  } else {
    e.matmul("ffn_gate_up", x, w.up, if_any(w.up_bias), s.gate_up.columns(0, 2 * n_ff));
  }
  e.gated("ffn_act", gate, up, gate, fn);
  e.matmul("ffn_down", gate, w.down, if_any(w.down_bias), out);
}

// ---- mixture of experts
// ---------------------------------------------------------------------------------------------------------

void bind_moe(Binder& b, MoeWeights& w, int32_t n_embd, const MoeHparams& m, int32_t layer, bool biases_needed) {
  const Dim embd{n_embd, "n_embd"}, ff{m.n_ff, "n_ff_exp"}, ff2{int64_t{2} * m.n_ff, "2*n_ff_exp"},
      n{m.n_expert, "n_expert"};
  const auto name = [&](std::string_view part) { return layer_name(layer, part); };
  b.need(w.router, name("ffn_gate_inp.weight"), {embd, n});
  const bool fused = b.has(name("ffn_gate_up_exps.weight"));
  if (fused) {
    b.need(w.gate_up, name("ffn_gate_up_exps.weight"), {embd, ff2, n});
  } else {
    b.need(w.gate, name("ffn_gate_exps.weight"), {embd, ff, n});
    b.need(w.up, name("ffn_up_exps.weight"), {embd, ff, n});
  }
  b.need(w.down, name("ffn_down_exps.weight"), {ff, embd, n});
  if (!biases_needed) return;
  b.need(w.router_bias, name("ffn_gate_inp.bias"), {n});
  if (fused) {
    b.need(w.gate_up_bias, name("ffn_gate_up_exps.bias"), {ff2, n});
  } else {
    b.need(w.gate_bias, name("ffn_gate_exps.bias"), {ff, n});
    b.need(w.up_bias, name("ffn_up_exps.bias"), {ff, n});
  }
  b.need(w.down_bias, name("ffn_down_exps.bias"), {embd, n});
}

MoeScratch moe_scratch(Encoder& e, const MoeHparams& m, int32_t n_embd) {
  const int32_t n = e.n_rows();
  return {.logits = e.act(n, m.n_expert),
          .ids = e.ids(n, m.n_used),
          .weights = e.act(n, m.n_used),
          .gate_up = e.act(n * m.n_used, 2 * m.n_ff),
          .down = e.act(n * m.n_used, n_embd)};
}

void moe(Encoder& e, const MoeWeights& w, const MoeSpec& spec, const MoeScratch& s, Act x, Act out) {
  const MoeHparams& m = spec.hparams;
  const Act gate = s.gate_up.columns(0, m.n_ff), up = s.gate_up.columns(m.n_ff, m.n_ff);
  e.matmul("ffn_router", x, w.router, if_any(w.router_bias), s.logits);
  e.router("ffn_choose", {.logits = s.logits,
                          .selection_bias = nullptr,
                          .ids = s.ids,
                          .weights = s.weights,
                          .gating = spec.gating,
                          .normalise = m.normalise,
                          .scale = m.weights_scale});
  if (w.gate_up) {
    e.expert_matmul("ffn_gate_up_exps", x, s.ids, w.gate_up, if_any(w.gate_up_bias), s.gate_up);
  } else {
    e.expert_matmul("ffn_gate_exps", x, s.ids, w.gate, if_any(w.gate_bias), gate);
    e.expert_matmul("ffn_up_exps", x, s.ids, w.up, if_any(w.up_bias), up);
  }
  e.gated("ffn_act_exps", gate, up, gate, spec.fn);
  e.expert_matmul("ffn_down_exps", gate, s.ids, w.down, if_any(w.down_bias), s.down);
  e.expert_combine("ffn_combine", s.down, s.weights, out);
}

void bind_ffn(Binder& b, FfnWeights& w, const Hparams& h, const MoeHparams& m, int32_t layer) {
  if (m.n_expert > 0) return bind_moe(b, w.experts, h.n_embd, m, layer, false);
  bind_mlp(b, w.dense, h.n_embd, h.n_ff[static_cast<size_t>(layer)], layer, MlpLayout::separate);
}

FfnScratch ffn_scratch(Encoder& e, const Hparams& h, const MoeHparams& m) {
  if (m.n_expert > 0) return {.dense = {}, .experts = moe_scratch(e, m, h.n_embd)};
  return {.dense = mlp_scratch(e, widest_ff(h)), .experts = {}};
}

void ffn(Encoder& e, const FfnWeights& w, const MoeHparams& m, const FfnScratch& s, Act x, Act out) {
  if (m.n_expert > 0) return moe(e, w.experts, {.hparams = m}, s.experts, x, out);
  gated_mlp(e, w.dense, ActFn::silu, s.dense, x, out);
}

// ---- embedding and head
// ---------------------------------------------------------------------------------------------------------

void bind_head(Binder& b, HeadWeights& w, const Hparams& h, Tied tied) {
  const Dim embd{h.n_embd, "n_embd"}, vocab{h.n_vocab, "n_vocab"};
  b.need_table(w.token_embd, "token_embd.weight", {embd, vocab});
  b.need(w.output_norm, "output_norm.weight", {embd});
  if (tied == Tied::always || (tied == Tied::if_absent && !b.has("output.weight"))) {
    b.need(w.output, "token_embd.weight", {embd, vocab});
  } else {
    b.need(w.output, "output.weight", {embd, vocab});
  }
  b.maybe(w.output_bias, "output.bias", {vocab});
}

void embed(Encoder& e, const HeadWeights& w, Act x, float scale) {
  e.embed("token_embd", w.token_embd, x, scale);
}

Act head(Encoder& e, const HeadWeights& w, float eps, Act x) {
  e.set_layer(-1);
  const int32_t n = e.n_out_rows();
  if (n == 0) return {};
  Act chosen = x;
  if (n != e.n_rows()) {  // ascending and as many as there are: all of them, in order
    chosen = e.act(n, x.cols);
    e.gather_rows("output_rows", x, chosen);
  }
  const Act normed = e.act(n, x.cols), logits = e.act(n, static_cast<int32_t>(w.output.out));
  e.rms_norm("output_norm", chosen, &w.output_norm, normed, eps);
  e.matmul("output", normed, w.output, if_any(w.output_bias), logits);
  e.set_logits(logits);
  return logits;
}

}  // namespace ridge
