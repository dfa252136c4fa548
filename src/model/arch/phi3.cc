// Phi-3, Phi-3.5 and Phi-4: the Llama form with q, k, v in one matrix and gate and up in one, rotary positions on
// halves of a head, and LongRoPE's two sets of frequency factors in the long-context variants, chosen by the context
// that is served. The sliding window that some of these files state is not applied, as in llama.cpp, whose results are
// the reference here. Sources: arXiv 2404.14219 (Phi-3), 2402.13753 (LongRoPE).
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Phi3 final : public Model {
 public:
  explicit Phi3(Hparams h) : Model(std::move(h)), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::if_absent);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {});
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_mlp(b, l.mlp, h.n_embd, h.n_ff[static_cast<size_t>(i)], i, MlpLayout::fused);
      add_kv_layer(kv_state(attention_spec(h, i, &rope_)));
    }
    const std::vector<float> factors = bind_rope_factors(b, h.rope, options.n_ctx_or(h.n_ctx_train));
    rope_ = make_rope(h.rope, {.freq_base = h.rope.freq_base, .split_halves = true, .factors = factors});
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
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      gated_mlp(e, l.mlp, ActFn::silu, mlp, y, y);
      e.add("ffn_residual", x, y, x);
    }
    head(e, head_, h.eps, x);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight ffn_norm;
    MlpWeights mlp;
  };

  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_phi3(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "phi3");
  RIDGE_TRY(Hparams h, read_hparams(keys, "phi3"));
  auto model = std::make_unique<Phi3>(std::move(h));
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
