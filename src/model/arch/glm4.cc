// GLM-4-0414 (9B, 32B, Z1): a second RMS norm behind attention and behind the MLP, before each residual; rotary
// positions on neighbouring pairs of the first half of a head only; gate and up in one matrix. Source: the published
// GLM-4-0414 configuration and its modelling code in transformers (glm4).
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Glm4 final : public Model {
 public:
  Glm4(Hparams h, bool split_halves)
      : Model(std::move(h)), split_halves_(split_halves), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::if_absent);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {});
      bind_norm(b, l.attn_post_norm, h, i, "post_attention_norm.weight");
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_mlp(b, l.mlp, h.n_embd, h.n_ff[static_cast<size_t>(i)], i, MlpLayout::fused);
      bind_norm(b, l.ffn_post_norm, h, i, "post_ffw_norm.weight");
      add_kv_layer(kv_state(attention_spec(h, i, &rope_)));
    }
    rope_ = make_rope(h.rope, {.freq_base = h.rope.freq_base, .split_halves = split_halves_});
    return finish(b, options);
  }

  void forward(Encoder& e) const override {
    const Hparams& h = config();
    const Act x = e.act(e.n_rows(), h.n_embd);  // n x n_embd, the residual stream
    const Act y = e.act(e.n_rows(), h.n_embd);  // n x n_embd, into and out of each part
    const AttentionScratch attn = attention_scratch(e, h);
    const MlpScratch mlp = mlp_scratch(e, widest_ff(h));
    embed(e, head_, x);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, attention_spec(h, i, &rope_), attn, y, y);
      e.rms_norm("attn_post_norm", y, &l.attn_post_norm, y, h.eps);
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      gated_mlp(e, l.mlp, ActFn::silu, mlp, y, y);
      e.rms_norm("ffn_post_norm", y, &l.ffn_post_norm, y, h.eps);
      e.add("ffn_residual", x, y, x);
    }
    head(e, head_, h.eps, x);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight attn_post_norm, ffn_norm;
    MlpWeights mlp;
    Weight ffn_post_norm;
  };

  bool split_halves_;
  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_glm4(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "glm4");
  RIDGE_TRY(Hparams h, read_hparams(keys, "glm4"));
  // Vision variants state position sections; their files keep a head in halves. For text all sections have the same
  // position.
  const bool split_halves = keys.has("rope.dimension_sections");
  auto model = std::make_unique<Glm4>(std::move(h), split_halves);
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
