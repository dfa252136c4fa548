// gpt-oss (20B, 120B): biases everywhere, a learned sink in each head's softmax, a sliding window in every second layer
// (the first one included), experts with a clamped SwiGLU whose gate is a softmax over the chosen ones only, YaRN.
// Source: the gpt-oss model card (OpenAI, arXiv 2508.10925) and the reference implementation published with it.
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class GptOss final : public Model {
 public:
  GptOss(Hparams h, MoeHparams m, int32_t window, std::vector<bool> windowed)
      : Model(std::move(h)),
        moe_{.hparams = m, .gating = verb::Gating::softmax_of_chosen, .fn = ActFn::swiglu_oai},
        window_(window),
        windowed_(std::move(windowed)),
        layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::never);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {.qkv_bias_needed = true, .o_bias_needed = true, .sinks = true});
      bind_norm(b, l.ffn_norm, h, i, "post_attention_norm.weight");
      bind_moe(b, l.experts, h.n_embd, moe_.hparams, i, true);
      add_kv_layer(kv_state(spec(i)));
    }
    rope_ = make_rope(h.rope, {.freq_base = h.rope.freq_base, .split_halves = true});
    rope_window_ = make_rope(h.rope, {.freq_base = h.rope.freq_base_window, .split_halves = true});
    return finish(b, options);
  }

  void forward(Encoder& e) const override {
    const Hparams& h = config();
    const Act x = e.act(e.n_rows(), h.n_embd);  // n x n_embd, the residual stream
    const Act y = e.act(e.n_rows(), h.n_embd);  // n x n_embd, into and out of each part
    const AttentionScratch attn = attention_scratch(e, h);
    const MoeScratch experts = moe_scratch(e, moe_.hparams, h.n_embd);
    embed(e, head_, x);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, spec(i), attn, y, y);
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      moe(e, l.experts, moe_, experts, y, y);
      e.add("ffn_residual", x, y, x);
    }
    head(e, head_, h.eps, x);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight ffn_norm;
    MoeWeights experts;
  };

  AttentionSpec spec(int32_t layer) const {
    const bool windowed = windowed_[static_cast<size_t>(layer)];
    AttentionSpec s = attention_spec(config(), layer, windowed ? &rope_window_ : &rope_);
    s.window = windowed ? window_ : 0;
    return s;
  }

  MoeSpec moe_;
  int32_t window_;
  std::vector<bool> windowed_;  // by layer
  RopeSpec rope_, rope_window_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_gpt_oss(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "gpt-oss");
  RIDGE_TRY(Hparams h, read_hparams(keys, "gpt-oss"));
  RIDGE_TRY(const MoeHparams m, read_moe(keys, false, 0));
  if (m.n_expert == 0)
    return fail(ErrorCode::bad_file, "key 'gpt-oss.expert_count': found 0, expected 1 to {}", kMaxExperts);
  RIDGE_TRY(const int32_t window, keys.count("attention.sliding_window", 0, kMaxContext));
  RIDGE_TRY(std::vector<bool> windowed, read_window_layers(keys, h.n_layer, 2));
  auto model = std::make_unique<GptOss>(std::move(h), m, window, std::move(windowed));
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
