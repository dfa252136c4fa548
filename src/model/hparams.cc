#include "model/hparams.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridge {
namespace {

constexpr float kAnyReal = std::numeric_limits<float>::max();

tl::unexpected<Error> out_of_range(const std::string& key, int64_t found, int64_t low, int64_t high) {
  return fail(ErrorCode::bad_file, "key '{}': found {}, expected {} to {}", key, found, low, high);
}

// An integer of a file that may be written with any width or sign: wide first, so that 2^31 and -5 are named as they
// are.
Result<int32_t> checked(const GgufFile& file, const std::string& key, int32_t low, int32_t high) {
  RIDGE_TRY(const int64_t found, file.get<int64_t>(key));
  if (found < low || found > high) return out_of_range(key, found, low, high);
  return static_cast<int32_t>(found);
}

Result<int32_t> read_vocab_size(const ArchKeys& keys) {
  const MetaValue* tokens = keys.file().find("tokenizer.ggml.tokens");
  if (tokens != nullptr && type_of(*tokens) == MetaType::array && count_of(*tokens) > 0) {
    const size_t n = count_of(*tokens);
    if (n > static_cast<size_t>(kMaxVocab)) {
      return fail(ErrorCode::limit, "key 'tokenizer.ggml.tokens': {} tokens, at most {} are supported", n, kMaxVocab);
    }
    return static_cast<int32_t>(n);
  }
  if (keys.has("vocab_size")) return keys.count("vocab_size", 1, kMaxVocab);
  const TensorView* embedding = keys.file().find_tensor("token_embd.weight");
  if (embedding == nullptr) {
    return fail(ErrorCode::not_found,
                "the file has neither tokens (key 'tokenizer.ggml.tokens'), nor '{}', nor a tensor "
                "'token_embd.weight': the size of its vocabulary is unknown",
                keys.key("vocab_size"));
  }
  if (embedding->ne[1] < 1 || embedding->ne[1] > kMaxVocab) {
    return fail(ErrorCode::bad_file, "tensor 'token_embd.weight': {} rows, expected 1 to {}", embedding->ne[1],
                kMaxVocab);
  }
  return static_cast<int32_t>(embedding->ne[1]);
}

Result<void> read_heads(const ArchKeys& keys, Hparams& h) {
  const size_t n = static_cast<size_t>(h.n_layer);
  RIDGE_TRY(h.n_head, keys.per_layer("attention.head_count", n, 1, kMaxHeads));
  h.n_head_kv = h.n_head;
  if (keys.has("attention.head_count_kv")) {
    RIDGE_TRY(h.n_head_kv, keys.per_layer("attention.head_count_kv", n, 1, kMaxHeads));
  }
  for (size_t i = 0; i < n; ++i) {
    if (h.n_head[i] % h.n_head_kv[i] != 0) {
      return fail(ErrorCode::bad_file, "key '{}': found {} in layer {}, expected a divisor of the {} heads in '{}'",
                  keys.key("attention.head_count_kv"), h.n_head_kv[i], i, h.n_head[i],
                  keys.key("attention.head_count"));
    }
  }
  const bool given = keys.has("attention.key_length");
  if (!given && h.n_embd % h.n_head[0] != 0) {
    return fail(ErrorCode::bad_file,
                "key '{}': found {}, expected a multiple of the {} heads in '{}' (there is no '{}')",
                keys.key("embedding_length"), h.n_embd, h.n_head[0], keys.key("attention.head_count"),
                keys.key("attention.key_length"));
  }
  const int32_t by_width = std::min(h.n_embd / h.n_head[0], kMaxHeadDim);
  RIDGE_TRY(h.k_dim, keys.count_or("attention.key_length", by_width, 1, kMaxHeadDim));
  RIDGE_TRY(h.v_dim, keys.count_or("attention.value_length", by_width > 0 ? by_width : h.k_dim, 1, kMaxHeadDim));
  if (!given && h.n_embd / h.n_head[0] > kMaxHeadDim) {
    return fail(ErrorCode::bad_file, "key '{}': {} over {} heads gives a head_dim of {}, expected at most {}",
                keys.key("embedding_length"), h.n_embd, h.n_head[0], h.n_embd / h.n_head[0], kMaxHeadDim);
  }
  return {};
}

Result<RopeScaling> read_scaling(const ArchKeys& keys) {
  // Files from before this key existed give only a factor; it then means linear.
  RIDGE_TRY(const std::string_view text, keys.text_or("rope.scaling.type", "linear"));
  struct Row {
    std::string_view name;
    RopeScaling scaling;
  };
  static constexpr Row kRows[] = {{"none", RopeScaling::none},
                                  {"linear", RopeScaling::linear},
                                  {"yarn", RopeScaling::yarn},
                                  {"longrope", RopeScaling::longrope}};
  for (const Row& row : kRows) {
    if (row.name == text) return row.scaling;
  }
  return fail(ErrorCode::unsupported, "key '{}': found '{}', supported are none, linear, yarn and longrope",
              keys.key("rope.scaling.type"), printable(text));
}

Result<RopeHparams> read_rope(const ArchKeys& keys, const Hparams& h) {
  RopeHparams r;
  RIDGE_TRY(r.n_rot, keys.count_or("rope.dimension_count", h.k_dim, 0, kMaxHeadDim));
  if (r.n_rot > h.k_dim || r.n_rot % 2 != 0) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected an even number up to the head_dim of {}",
                keys.key("rope.dimension_count"), r.n_rot, h.k_dim);
  }
  RIDGE_TRY(r.freq_base, keys.real_or("rope.freq_base", 10000.0f, 1.0f, kAnyReal));
  RIDGE_TRY(r.freq_base_window, keys.real_or("rope.freq_base_swa", r.freq_base, 1.0f, kAnyReal));
  RIDGE_TRY(r.scaling, read_scaling(keys));
  RIDGE_TRY(float factor, keys.real_or("rope.scaling.factor", 0.0f, 0.0f, 1e6f));
  if (factor == 0.0f) {
    RIDGE_TRY(factor, keys.real_or("rope.scale_linear", 0.0f, 0.0f, 1e6f));
  }
  r.factor = factor == 0.0f || r.scaling == RopeScaling::none ? 1.0f : factor;
  if (r.factor < 1e-6f) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected 0 (none) or 0.000001 to 1000000",
                keys.key("rope.scaling.factor"), r.factor);
  }
  RIDGE_TRY(r.n_ctx_orig, keys.count_or("rope.scaling.original_context_length", h.n_ctx_train, 1, kMaxContext));
  RIDGE_TRY(r.attn_factor, keys.real_or("rope.scaling.attn_factor", 1.0f, 0.0f, 1e6f));
  RIDGE_TRY(r.ext_factor, keys.real_or("rope.scaling.yarn_ext_factor", -1.0f, -kAnyReal, 1e6f));
  if (r.ext_factor < 0.0f) r.ext_factor = r.scaling == RopeScaling::yarn ? 1.0f : 0.0f;
  RIDGE_TRY(r.beta_fast, keys.real_or("rope.scaling.yarn_beta_fast", 32.0f, 1e-3f, 1e6f));
  RIDGE_TRY(r.beta_slow, keys.real_or("rope.scaling.yarn_beta_slow", 1.0f, 1e-3f, 1e6f));
  return r;
}

}  // namespace

Result<int32_t> ArchKeys::count(std::string_view suffix, int32_t low, int32_t high) const {
  return checked(*file_, key(suffix), low, high);
}

Result<int32_t> ArchKeys::count_or(std::string_view suffix, int32_t fallback, int32_t low, int32_t high) const {
  return has(suffix) ? count(suffix, low, high) : Result<int32_t>(fallback);
}

Result<std::vector<int32_t>> ArchKeys::per_layer(std::string_view suffix, size_t n, int32_t low, int32_t high) const {
  const std::string name = key(suffix);
  RIDGE_TRY(const std::vector<int64_t> found, file_->get_per_layer<int64_t>(name, n));
  std::vector<int32_t> out;
  out.reserve(n);
  for (int64_t value : found) {
    if (value < low || value > high) return out_of_range(name, value, low, high);
    out.push_back(static_cast<int32_t>(value));
  }
  return out;
}

Result<float> ArchKeys::real(std::string_view suffix, float low, float high) const {
  const std::string name = key(suffix);
  RIDGE_TRY(const float found, file_->get<float>(name));
  if (!std::isfinite(found) || found < low || found > high) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected {} to {}", name, found, low, high);
  }
  return found;
}

Result<float> ArchKeys::real_or(std::string_view suffix, float fallback, float low, float high) const {
  return has(suffix) ? real(suffix, low, high) : Result<float>(fallback);
}

Result<bool> ArchKeys::flag_or(std::string_view suffix, bool fallback) const {
  return file_->get_or<bool>(key(suffix), fallback);
}

Result<std::string_view> ArchKeys::text_or(std::string_view suffix, std::string_view fallback) const {
  return file_->get_or<std::string_view>(key(suffix), fallback);
}

Result<Hparams> read_hparams(const ArchKeys& keys, std::string_view arch) {
  Hparams h;
  h.arch = arch;
  if (const auto name = keys.file().get_string("general.name")) h.name = printable(*name);
  RIDGE_TRY(const int32_t n_block, keys.count("block_count", 1, kMaxLayers));
  // Blocks that predict tokens after the next one lie behind the others and take no part in the plain forward pass.
  RIDGE_TRY(const int32_t n_next, keys.count_or("nextn_predict_layers", 0, 0, n_block - 1));
  h.n_layer = n_block - n_next;
  RIDGE_TRY(h.n_embd, keys.count("embedding_length", 1, kMaxEmbd));
  RIDGE_TRY(h.n_ctx_train, keys.count("context_length", 1, kMaxContext));
  RIDGE_TRY(h.n_vocab, read_vocab_size(keys));
  if (n_next > 0) {
    for (std::string_view suffix : {"attention.head_count", "attention.head_count_kv", "feed_forward_length"}) {
      const MetaValue* value = keys.file().find(keys.key(suffix));
      if (value != nullptr && type_of(*value) == MetaType::array) {
        return fail(ErrorCode::unsupported, "key '{}': an array by layer together with '{}' is not supported",
                    keys.key(suffix), keys.key("nextn_predict_layers"));
      }
    }
  }
  RIDGE_CHECK_OK(read_heads(keys, h));
  h.n_ff.assign(static_cast<size_t>(h.n_layer), 0);
  if (keys.has("feed_forward_length")) {
    RIDGE_TRY(h.n_ff, keys.per_layer("feed_forward_length", static_cast<size_t>(h.n_layer), 0, kMaxFf));
  }
  RIDGE_TRY(h.eps, keys.real("attention.layer_norm_rms_epsilon", 0.0f, 1.0f));
  RIDGE_TRY(h.rope, read_rope(keys, h));
  return h;
}

Result<MoeHparams> read_moe(const ArchKeys& keys, bool normalise, int32_t ff_fallback) {
  MoeHparams m;
  RIDGE_TRY(m.n_expert, keys.count_or("expert_count", 0, 0, kMaxExperts));
  if (m.n_expert == 0) {
    RIDGE_TRY(m.n_used, keys.count_or("expert_used_count", 0, 0, 0));
    return m;
  }
  RIDGE_TRY(m.n_used, keys.count("expert_used_count", 1, m.n_expert));
  if (ff_fallback > 0 && !keys.has("expert_feed_forward_length")) {
    m.n_ff = ff_fallback;
  } else {
    RIDGE_TRY(m.n_ff, keys.count("expert_feed_forward_length", 1, kMaxFf));
  }
  RIDGE_TRY(const float scale, keys.real_or("expert_weights_scale", 0.0f, -1e6f, 1e6f));
  if (scale != 0.0f) m.weights_scale = scale;  // writers put 0 where the model has none
  RIDGE_TRY(m.normalise, keys.flag_or("expert_weights_norm", normalise));
  return m;
}

Result<std::vector<bool>> read_window_layers(const ArchKeys& keys, int32_t n_layer, int32_t period) {
  constexpr std::string_view kSuffix = "attention.sliding_window_pattern";
  std::vector<bool> windowed(static_cast<size_t>(n_layer));
  const MetaValue* value = keys.file().find(keys.key(kSuffix));
  if (value != nullptr && type_of(*value) == MetaType::array) {
    if (element_type_of(*value) == MetaType::boolean) {
      RIDGE_TRY(const std::vector<bool> flags, keys.file().get_per_layer<bool>(keys.key(kSuffix), windowed.size()));
      return flags;
    }
    RIDGE_TRY(const std::vector<int32_t> flags, keys.per_layer(kSuffix, windowed.size(), 0, 1));
    for (size_t i = 0; i < windowed.size(); ++i) windowed[i] = flags[i] != 0;
    return windowed;
  }
  RIDGE_TRY(const int32_t n, keys.count_or(kSuffix, period, 0, kMaxLayers));
  for (int32_t i = 0; i < n_layer; ++i) windowed[static_cast<size_t>(i)] = n == 0 || i % n < n - 1;
  return windowed;
}

}  // namespace ridge
