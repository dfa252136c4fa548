// Qwen 3 with experts (30B-A3B, 235B-A22B, Coder): Qwen 3's attention, and in each layer experts instead of the MLP;
// the gate is a softmax over all experts, the chosen ones normalised to sum 1. Source: arXiv 2505.09388 (Qwen3).
#include "model/arch/arch.h"

namespace ridge::arch {
namespace {

class Qwen3Moe final : public Model {
 public:
  Qwen3Moe(Hparams h, MoeHparams m) : Model(std::move(h)), moe_(m), layers_(static_cast<size_t>(config().n_layer)) {}

  Result<void> bind(const GgufFile& file, const ModelOptions& options) {
    const Hparams& h = config();
    Binder b(file);
    bind_head(b, head_, h, Tied::if_absent);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      Layer& l = layers_[static_cast<size_t>(i)];
      bind_norm(b, l.attn_norm, h, i, "attn_norm.weight");
      bind_attention(b, l.attn, h, i, {.qk_norm = true});
      bind_norm(b, l.ffn_norm, h, i, "ffn_norm.weight");
      bind_moe(b, l.experts, h.n_embd, moe_, i, false);
      add_kv_layer(kv_state(attention_spec(h, i, &rope_)));
    }
    rope_ = make_rope(h.rope, {.freq_base = h.rope.freq_base, .split_halves = true});
    return finish(b, options);
  }

  void forward(Encoder& e) const override {
    const Hparams& h = config();
    const Act x = e.act(e.n_rows(), h.n_embd);  // n x n_embd, the residual stream
    const Act y = e.act(e.n_rows(), h.n_embd);  // n x n_embd, into and out of each part
    const AttentionScratch attn = attention_scratch(e, h);
    const MoeScratch experts = moe_scratch(e, moe_, h.n_embd);
    embed(e, head_, x);
    for (int32_t i = 0; i < h.n_layer; ++i) {
      const Layer& l = layers_[static_cast<size_t>(i)];
      e.set_layer(i);
      e.rms_norm("attn_norm", x, &l.attn_norm, y, h.eps);
      attention(e, l.attn, attention_spec(h, i, &rope_), attn, y, y);
      e.add("attn_residual", x, y, x);
      e.rms_norm("ffn_norm", x, &l.ffn_norm, y, h.eps);
      moe(e, l.experts, {.hparams = moe_}, experts, y, y);
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

  MoeHparams moe_;
  RopeSpec rope_;
  HeadWeights head_;
  std::vector<Layer> layers_;
};

}  // namespace

Loaded load_qwen3moe(const GgufFile& file, const ModelOptions& options) {
  const ArchKeys keys(file, "qwen3moe");
  RIDGE_TRY(Hparams h, read_hparams(keys, "qwen3moe"));
  RIDGE_TRY(const int32_t n_used, keys.count("expert_used_count", 1, kMaxExperts));
  RIDGE_TRY(const MoeHparams m, read_moe(keys, true, h.n_ff[0] / n_used));
  if (m.n_expert == 0)
    return fail(ErrorCode::bad_file, "key 'qwen3moe.expert_count': found 0, expected 1 to {}", kMaxExperts);
  auto model = std::make_unique<Qwen3Moe>(std::move(h), m);
  RIDGE_CHECK_OK(model->bind(file, options));
  return model;
}

}  // namespace ridge::arch
