// Llama 1 to 3 and what was published in their form: Mistral 7B, Mixtral (experts instead of the MLP), TinyLlama,
// SmolLM, ... Pre-norm transformer: RMS norms, rotary positions on neighbouring pairs, grouped-query attention,
// SiLU-gated MLP. Sources: arXiv 2302.13971 (LLaMA), 2407.21783 (Llama 3; its frequency scaling comes as the tensor
// rope_freqs.weight), 2401.04088 (Mixtral: softmax over all experts, the two best normalised). Biases and a separate
// head are there where the file has them.
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Llama final : public Model {
 public:
  Llama(Hparams h, MoeHparams m) : Model(std::move(h)), moe_(m), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::if_absent);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {});
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_ffn(b, l.ffn, h, moe_, i);
      add_kv_layer(kv_state(attention_spec(h, i, &rope_)));
    }
    const std::vector<float> factors = bind_rope_factors(b, h.rope, options.n_ctx_or(h.n_ctx_train));
    rope_ = make_rope(h.rope, {.freq_base = h.rope.freq_base, .split_halves = false, .factors = factors});
    return finish(b, options);
  }

  void forward(Encoder& e) const override {
    const Hparams& h = config();
    const Act x = e.act(e.n_rows(), h.n_embd);  // n x n_embd, the residual stream
    const Act y = e.act(e.n_rows(), h.n_embd);  // n x n_embd, into and out of each part
    const AttentionScratch attn = attention_scratch(e, h);
    const FfnScratch mlp = ffn_scratch(e, h, moe_);
    embed(e, head_, x);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, attention_spec(h, i, &rope_), attn, y, y);
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      ffn(e, l.ffn, moe_, mlp, y, y);
      e.add("ffn_residual", x, y, x);
    }
    head(e, head_, h.eps, x);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight ffn_norm;
    FfnWeights ffn;
  };

  MoeHparams moe_;
  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_llama(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "llama");
  RIDGE_TRY(Hparams h, read_hparams(keys, "llama"));
  RIDGE_TRY(const MoeHparams m, read_moe(keys, true, h.n_ff[0]));
  auto model = std::make_unique<Llama>(std::move(h), m);
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
