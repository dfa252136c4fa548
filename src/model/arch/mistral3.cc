// Ministral 3 and Mistral models after it: the Llama form, YaRN with its own magnitude rule (yarn_log_multiplier), and
// optionally a temperature that sharpens attention at far positions: q grows by 1 + scale * log(1 + floor(position /
// original context)). Sources: the published Ministral 3 configuration (rope_parameters: mscale_all_dim,
// llama_4_scaling_beta).
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Mistral3 final : public Model {
 public:
  Mistral3(Hparams h, MoeHparams m, float temperature_scale, float log_multiplier)
      : Model(std::move(h)),
        moe_(m),
        temperature_scale_(temperature_scale),
        log_multiplier_(log_multiplier),
        layers_(static_cast<size_t>(config().n_layer)) {}

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
      add_kv_layer(kv_state(spec(i)));
    }
    const std::vector<float> factors = bind_rope_factors(b, h.rope, options.n_ctx_or(h.n_ctx_train));
    rope_ = make_rope(
        h.rope,
        {.freq_base = h.rope.freq_base, .split_halves = false, .factors = factors, .log_multiplier = log_multiplier_});
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
      attention(e, l.attn, spec(i), attn, y, y);
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

  AttentionSpec spec(int32_t layer) const {
    AttentionSpec s = attention_spec(config(), layer, &rope_);
    s.temperature_scale = temperature_scale_;
    s.temperature_length = config().rope.n_ctx_orig;
    return s;
  }

  MoeHparams moe_;
  float temperature_scale_, log_multiplier_;
  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_mistral3(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "mistral3");
  RIDGE_TRY(Hparams h, read_hparams(keys, "mistral3"));
  RIDGE_TRY(const MoeHparams m, read_moe(keys, true, h.n_ff[0]));
  RIDGE_TRY(const float temperature_scale, keys.real_or("attention.temperature_scale", 0.0f, 0.0f, 100.0f));
  RIDGE_TRY(const float log_multiplier, keys.real_or("rope.scaling.yarn_log_multiplier", 0.0f, 0.0f, 100.0f));
  auto model = std::make_unique<Mistral3>(std::move(h), m, temperature_scale, log_multiplier);
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
