// Gemma 2: norms before and behind each part, a GELU-gated MLP, soft caps on attention scores and on logits, a sliding
// window in every second layer (the first one included), embeddings scaled by sqrt(n_embd), the head tied to them.
// Source: arXiv 2408.00118 (Gemma 2). Files hold the norms' weights with the 1 already added.
#include <cmath>

#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Gemma2 final : public Model {
 public:
  struct Own {
    float attn_softcap, final_softcap;  // 0: none
    float query_scale;
    int32_t window;
    std::vector<bool> windowed;  // by layer
  };

  Gemma2(Hparams h, Own own)
      : Model(std::move(h)), own_(std::move(own)), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::always);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {});
      bind_norm(b, l.attn_post_norm, h, i, "post_attention_norm.weight");
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_mlp(b, l.mlp, h.n_embd, h.n_ff[static_cast<size_t>(i)], i, MlpLayout::separate);
      bind_norm(b, l.ffn_post_norm, h, i, "post_ffw_norm.weight");
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
    const MlpScratch mlp = mlp_scratch(e, widest_ff(h));
    embed(e, head_, x, static_cast<float>(std::sqrt(static_cast<double>(h.n_embd))));
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, spec(i), attn, y, y);
      e.rms_norm("attn_post_norm", y, &l.attn_post_norm, y, h.eps);
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      gated_mlp(e, l.mlp, ActFn::gelu_tanh, mlp, y, y);
      e.rms_norm("ffn_post_norm", y, &l.ffn_post_norm, y, h.eps);
      e.add("ffn_residual", x, y, x);
    }
    const Act logits = head(e, head_, h.eps, x);
    if (logits.rows > 0 && own_.final_softcap > 0) e.softcap("logit_softcap", logits, logits, own_.final_softcap);
  }

 private:
  struct Layer {
    Weight attn_norm;
    AttentionWeights attn;
    Weight attn_post_norm, ffn_norm;
    MlpWeights mlp;
    Weight ffn_post_norm;
  };

  AttentionSpec spec(int32_t layer) const {
    const bool windowed = own_.windowed[static_cast<size_t>(layer)];
    AttentionSpec s = attention_spec(config(), layer, windowed ? &rope_window_ : &rope_);
    s.scale = own_.query_scale;
    s.softcap = own_.attn_softcap;
    s.window = windowed ? own_.window : 0;
    return s;
  }

  Own own_;
  RopeSpec rope_, rope_window_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_gemma2(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "gemma2");
  RIDGE_TRY(Hparams h, read_hparams(keys, "gemma2"));
  Gemma2::Own own{};
  RIDGE_TRY(own.attn_softcap, keys.real_or("attn_logit_softcapping", 50.0f, 0.0f, 1e6f));
  RIDGE_TRY(own.final_softcap, keys.real_or("final_logit_softcapping", 30.0f, 0.0f, 1e6f));
  RIDGE_TRY(own.window, keys.count_or("attention.sliding_window", 4096, 0, kMaxContext));
  RIDGE_TRY(own.windowed, read_window_layers(keys, h.n_layer, 2));
  // The 27B model, known by its 46 layers, divides by the width that a head would have (144), not by the one it has
  // (128).
  constexpr int32_t kLayersOf27B = 46;
  const int32_t divisor = h.n_layer == kLayersOf27B ? h.n_embd / h.n_head[0] : h.k_dim;
  if (divisor == 0) {
    return fail(ErrorCode::bad_file, "key 'gemma2.embedding_length': found {}, expected at least the {} heads",
                h.n_embd, h.n_head[0]);
  }
  own.query_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(divisor)));
  auto model = std::make_unique<Gemma2>(std::move(h), std::move(own));
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
