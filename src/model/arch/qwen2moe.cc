// Qwen 1.5 and 2 with experts (A2.7B, 57B-A14B): Qwen 2's attention; in each layer experts by a softmax over all, whose
// chosen values are not normalised, and beside them one expert that every token uses, times the sigmoid of its own
// gate. Source: arXiv 2407.10671 (Qwen2), the published Qwen2-MoE configuration (norm_topk_prob = false).
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Qwen2Moe final : public Model {
 public:
  Qwen2Moe(Hparams h, MoeHparams m, int32_t n_ff_shared)
      : Model(std::move(h)), moe_(m), n_ff_shared_(n_ff_shared), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::never);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {.qkv_bias_needed = true});
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_moe(b, l.experts, h.n_embd, moe_, i, false);
      bind_shared(b, l, i);
      add_kv_layer(kv_state(attention_spec(h, i, &rope_)));
    }
    rope_ = make_rope(h.rope, {.freq_base = h.rope.freq_base, .split_halves = true});
    return finish(b, options);
  }

  void forward(Encoder& e) const override {
    const Hparams& h = config();
    const Act x = e.act(e.n_rows(), h.n_embd);  // n x n_embd, the residual stream
    const Act y = e.act(e.n_rows(), h.n_embd);  // n x n_embd, into and out of each part
    const Act shared = e.act(e.n_rows(), h.n_embd), gate = e.act(e.n_rows(), 1), z = e.act(e.n_rows(), h.n_embd);
    const AttentionScratch attn = attention_scratch(e, h);
    const MoeScratch experts = moe_scratch(e, moe_, h.n_embd);
    const MlpScratch mlp = mlp_scratch(e, n_ff_shared_);
    embed(e, head_, x);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, attention_spec(h, i, &rope_), attn, y, y);
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      moe(e, l.experts, {.hparams = moe_}, experts, y, z);
      gated_mlp(e, l.shared, ActFn::silu, mlp, y, shared);
      e.matmul("shexp_gate", y, l.shared_gate, nullptr, gate);  // n x 1
      e.activate("shexp_sigmoid", gate, gate, ActFn::sigmoid);
      e.mul("shexp_scale", shared, gate, shared);
      e.add("shexp_add", z, shared, z);
      e.add("ffn_residual", x, z, x);
    }
    head(e, head_, h.eps, x);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight ffn_norm;
    MoeWeights experts;
    MlpWeights shared;
    Weight shared_gate;  // n_embd -> 1
  };

  void bind_shared(Binder& b, Layer& l, int32_t layer) const {
    const Dim embd{config().n_embd, "n_embd"}, ff{n_ff_shared_, "n_ff_shexp"};
    b.need(l.shared_gate, layer_name(layer, "ffn_gate_inp_shexp.weight"), {embd});
    b.need(l.shared.gate, layer_name(layer, "ffn_gate_shexp.weight"), {embd, ff});
    b.need(l.shared.up, layer_name(layer, "ffn_up_shexp.weight"), {embd, ff});
    b.need(l.shared.down, layer_name(layer, "ffn_down_shexp.weight"), {ff, embd});
  }

  MoeHparams moe_;
  int32_t n_ff_shared_;
  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_qwen2moe(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "qwen2moe");
  RIDGE_TRY(Hparams h, read_hparams(keys, "qwen2moe"));
  RIDGE_TRY(const int32_t n_used, keys.count("expert_used_count", 1, kMaxExperts));
  RIDGE_TRY(const MoeHparams m, read_moe(keys, false, h.n_ff[0] / n_used));
  if (m.n_expert == 0)
    return fail(ErrorCode::bad_file, "key 'qwen2moe.expert_count': found 0, expected 1 to {}", kMaxExperts);
  RIDGE_TRY(int32_t n_ff_shared, keys.count_or("expert_shared_feed_forward_length", 0, 0, kMaxFf));
  if (n_ff_shared == 0) n_ff_shared = h.n_ff[0];
  auto model = std::make_unique<Qwen2Moe>(std::move(h), m, n_ff_shared);
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
