// Granite 3 and 4 (dense): the Llama form with four constants of the maximal-update parametrisation: the embedding,
// each residual branch, q.k and the logits have their own multiplier. A file may switch the rotary positions off
// (rope.scaling.finetuned = false). Sources: the Granite 3.0 report (IBM, 2024) and its published configuration; arXiv
// 2203.03466 for the reason of the constants.
#include <cmath>

#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Granite final : public Model {
 public:
  struct Multipliers {
    float embedding, residual, attention, logits;
  };

  Granite(Hparams h, Multipliers m, bool rotary)
      : Model(std::move(h)), times_(m), rotary_(rotary), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::if_absent);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {});
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_mlp(b, l.mlp, h.n_embd, h.n_ff[static_cast<size_t>(i)], i, MlpLayout::separate);
      add_kv_layer(kv_state(spec(i)));
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
    const MlpScratch mlp = mlp_scratch(e, widest_ff(h));
    embed(e, head_, x, times_.embedding);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, spec(i), attn, y, y);
      e.add("attn_residual", x, y, x, times_.residual);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      gated_mlp(e, l.mlp, ActFn::silu, mlp, y, y);
      e.add("ffn_residual", x, y, x, times_.residual);
    }
    const Act logits = head(e, head_, h.eps, x);
    if (logits.rows > 0) e.scale("logit_scale", logits, logits, times_.logits);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight ffn_norm;
    MlpWeights mlp;
  };

  AttentionSpec spec(int32_t layer) const {
    AttentionSpec s = attention_spec(config(), layer, rotary_ ? &rope_ : nullptr);
    s.scale = times_.attention;
    return s;
  }

  Multipliers times_;
  bool rotary_;
  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_granite(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "granite");
  RIDGE_TRY(Hparams h, read_hparams(keys, "granite"));
  // Writers put 0 where a model does without.
  const auto constant = [&](std::string_view key, float without) -> Result<float> {
    RIDGE_TRY(const float found, keys.real_or(key, 0.0f, -1e6f, 1e6f));
    return found == 0.0f ? without : found;
  };
  const float by_dim = static_cast<float>(1.0 / std::sqrt(static_cast<double>(h.k_dim)));
  Granite::Multipliers m{};
  RIDGE_TRY(m.embedding, constant("embedding_scale", 1.0f));
  RIDGE_TRY(m.residual, constant("residual_scale", 1.0f));
  RIDGE_TRY(m.attention, constant("attention.scale", by_dim));
  RIDGE_TRY(const float logit_scale, keys.real("logit_scale", -1e6f, 1e6f));
  if (logit_scale == 0.0f) {
    return fail(ErrorCode::bad_file,
                "key 'granite.logit_scale': found 0, expected the number that the logits are divided by");
  }
  m.logits = 1.0f / logit_scale;
  RIDGE_TRY(const bool rotary, keys.flag_or("rope.scaling.finetuned", true));
  auto model = std::make_unique<Granite>(std::move(h), m, rotary);
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
