// The table of names, the rules of each, and the order in which they are applied. The numbers of general.file_type are
// llama.cpp's llama_ftype.
#include "quant/mix.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <string>

#include "quant/formats.h"

namespace ridge::quant {
namespace {

constexpr Target kTargets[] = {
    {"Q4_0", DType::q4_0, 2, ""},
    {"Q4_1", DType::q4_1, 3, ""},
    {"Q5_0", DType::q5_0, 8, ""},
    {"Q5_1", DType::q5_1, 9, ""},
    {"Q8_0", DType::q8_0, 7, ""},
    {"Q2_K", DType::q2_k, 10, ""},
    {"Q3_K_S", DType::q3_k, 11, ""},
    {"Q3_K_M", DType::q3_k, 12, "Q3_K"},
    {"Q3_K_L", DType::q3_k, 13, ""},
    {"Q4_K_S", DType::q4_k, 14, ""},
    {"Q4_K_M", DType::q4_k, 15, "Q4_K"},
    {"Q5_K_S", DType::q5_k, 16, ""},
    {"Q5_K_M", DType::q5_k, 17, "Q5_K"},
    {"Q6_K", DType::q6_k, 18, ""},
    {"IQ4_NL", DType::iq4_nl, 25, ""},
    {"IQ4_XS", DType::iq4_xs, 30, ""},
    {"MXFP4_MOE", DType::mxfp4, 38, "MXFP4"},
    {"F16", DType::f16, 1, "FP16"},
    {"BF16", DType::bf16, 32, ""},
    {"F32", DType::f32, 0, "FP32"},
};

enum class Part : uint8_t { output, token_embedding, values, keys, attention_output, ffn_down, other };

// Where in the model a rule gives its first type; elsewhere its second.
enum class Where : uint8_t {
  everywhere,
  first_two,
  first_four,
  first_sixteenth,
  first_eighth,
  first_eighth_blind,     // only without an importance matrix
  first_eighth_informed,  // only with one
  more_bits,              // the first and last eighth, and every third layer between
  grouped_keys,           // 4 or more query heads a key head
};

struct Rule {
  std::string_view target;
  Part part;
  Where where;
  DType then;
  std::optional<DType> otherwise;  // nullopt: the next rule of this target and part, or the base type
};

constexpr Rule kRules[] = {
    {"Q2_K", Part::values, Where::grouped_keys, DType::q4_k, DType::q3_k},
    {"Q2_K", Part::ffn_down, Where::everywhere, DType::q3_k, {}},
    {"Q2_K", Part::attention_output, Where::everywhere, DType::q3_k, {}},
    {"Q3_K_M", Part::values, Where::first_two, DType::q5_k, DType::q4_k},
    {"Q3_K_M", Part::ffn_down, Where::first_sixteenth, DType::q5_k, DType::q4_k},
    {"Q3_K_M", Part::attention_output, Where::everywhere, DType::q4_k, {}},
    {"Q3_K_L", Part::values, Where::everywhere, DType::q5_k, {}},
    {"Q3_K_L", Part::ffn_down, Where::everywhere, DType::q5_k, {}},
    {"Q3_K_L", Part::attention_output, Where::everywhere, DType::q5_k, {}},
    {"Q4_K_S", Part::values, Where::first_four, DType::q5_k, {}},
    {"Q4_K_S", Part::ffn_down, Where::first_eighth, DType::q5_k, {}},
    {"Q4_K_M", Part::values, Where::more_bits, DType::q6_k, {}},
    {"Q4_K_M", Part::ffn_down, Where::more_bits, DType::q6_k, {}},
    {"Q5_K_M", Part::values, Where::more_bits, DType::q6_k, {}},
    {"Q5_K_M", Part::ffn_down, Where::more_bits, DType::q6_k, {}},
    {"IQ4_NL", Part::values, Where::grouped_keys, DType::q5_k, {}},
    {"IQ4_NL", Part::ffn_down, Where::first_eighth_blind, DType::q5_k, {}},
    {"IQ4_XS", Part::values, Where::grouped_keys, DType::q5_k, {}},
    {"IQ4_XS", Part::ffn_down, Where::first_eighth_blind, DType::q5_k, {}},
    {"Q4_0", Part::ffn_down, Where::first_eighth_informed, DType::q4_1, {}},
    {"Q5_0", Part::ffn_down, Where::first_eighth_informed, DType::q5_1, {}},
};

// Falcon's matrices are rounded otherwise; its rules stand in for those above in these two parts.
constexpr Rule kFalconRules[] = {
    {"Q2_K", Part::ffn_down, Where::everywhere, DType::q3_k, {}},
    {"Q3_K_M", Part::ffn_down, Where::first_sixteenth, DType::q5_k, {}},
    {"Q3_K_M", Part::ffn_down, Where::more_bits, DType::q4_k, {}},
    {"Q3_K_L", Part::ffn_down, Where::everywhere, DType::q4_k, {}},
    {"Q3_K_L", Part::attention_output, Where::everywhere, DType::q4_k, {}},
    {"Q4_K_M", Part::ffn_down, Where::first_sixteenth, DType::q6_k, {}},
    {"Q4_K_M", Part::ffn_down, Where::more_bits, DType::q5_k, {}},
    {"Q5_K_M", Part::ffn_down, Where::more_bits, DType::q6_k, {}},
    {"IQ4_NL", Part::ffn_down, Where::first_eighth_blind, DType::q5_k, {}},
    {"IQ4_XS", Part::ffn_down, Where::first_eighth_blind, DType::q5_k, {}},
    {"Q4_0", Part::ffn_down, Where::first_eighth_informed, DType::q4_1, {}},
    {"Q5_0", Part::ffn_down, Where::first_eighth_informed, DType::q5_1, {}},
};

// Attention of a model with 8 experts is small beside them, so it gets more.
constexpr std::string_view kEightExpertsOutputQ5[] = {"Q2_K",   "Q3_K_S", "Q3_K_M", "Q4_K_S",
                                                      "Q4_K_M", "IQ4_NL", "IQ4_XS"};

// Names, or parts of names, of matrices that stay as they are: small, or read otherwise than by a matrix product.
constexpr std::string_view kKept[] = {
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
};
constexpr std::string_view kKeptWhole[] = {"position_embd.weight", "token_types.weight"};

struct Substitute {
  DType wanted, instead;
};
// Where a row is no whole number of super-blocks of 256: the nearest format with blocks of 32.
constexpr Substitute kSubstitutes[] = {
    {DType::q2_k, DType::q4_0}, {DType::q3_k, DType::q4_0}, {DType::q4_k, DType::q5_0},
    {DType::q5_k, DType::q5_1}, {DType::q6_k, DType::q8_0}, {DType::iq4_xs, DType::iq4_nl},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

Part part_of(std::string_view name) {
  if (name == "output.weight") return Part::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") return Part::token_embedding;
  if (contains(name, "attn_qkv.weight") || contains(name, "attn_kv_b.weight") || contains(name, "attn_v.weight"))
    return Part::values;
  if (contains(name, "attn_k.weight")) return Part::keys;
  if (contains(name, "attn_output.weight")) return Part::attention_output;
  if (contains(name, "ffn_down")) return Part::ffn_down;
  return Part::other;
}

bool more_bits(int layer, int n) {
  return layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2;
}

class Chooser {
 public:
  Chooser(const Target& target, const MixModel& model, std::span<const MixTensor> tensors, const MixOptions& options)
      : target_(target), model_(model), options_(options) {
    for (const MixTensor& t : tensors) {
      n_values_ += part_of(t.name) == Part::values ? 1 : 0;
      is_tied_ &= t.name != "output.weight";
    }
  }

  Result<MixChoice> choose(const MixTensor& t) {
    if (!is_quantisable(t) || (options_.leave_output && t.name == "output.weight"))
      return MixChoice{.type = t.type, .is_kept = true};
    const Part part = part_of(t.name);
    if (part == Part::token_embedding && options_.token_embedding) return fit(t, *options_.token_embedding);
    if (part == Part::output && options_.output) return fit(t, *options_.output);
    if (info(target_.base).block_elems == 1) return MixChoice{.type = target_.base};
    for (const TypeRule& rule : options_.rules) {
      if (rule.matches(t.name)) return fit(t, rule.type());
    }
    if (options_.pure) return fit(t, target_.base);
    RIDGE_TRY(const DType type, by_mix(t, part));
    return fit(t, type);
  }

 private:
  Result<DType> by_mix(const MixTensor& t, Part part) {
    if (part == Part::output || (is_tied_ && part == Part::token_embedding)) return head_type(t);
    if (target_.name == "MXFP4_MOE") return t.ne[2] > 1 ? DType::mxfp4 : DType::q8_0;
    if (part == Part::values) return values_type(n_values_seen_++);
    if (part == Part::keys && model_.n_experts == 8) return DType::q8_0;
    if (part == Part::ffn_down) {
      int layer = n_downs_seen_++;
      if (model_.n_experts > 1) {  // several matrices a layer: the count says nothing
        const std::optional<int> named = layer_of(t.name);
        if (!named || *named >= model_.n_layers) {
          return fail(ErrorCode::invalid_argument, "tensor '{}': expected a layer from 0 to {} in its name", t.name,
                      model_.n_layers - 1);
        }
        layer = *named;
      }
      return by_rules(part, layer, model_.n_layers);
    }
    if (part == Part::attention_output && model_.n_experts == 8 && !is_falcon()) {
      const bool raised = std::find(std::begin(kEightExpertsOutputQ5), std::end(kEightExpertsOutputQ5), target_.name) !=
                          std::end(kEightExpertsOutputQ5);
      return raised ? DType::q5_k : target_.base;
    }
    return by_rules(part, 0, 1);
  }

  // The output matrix, or the embedding that serves as one.
  DType head_type(const MixTensor& t) const {
    if (options_.output) return *options_.output;
    if (target_.name == "MXFP4_MOE" || is_falcon() || t.ne[0] % info(target_.base).block_elems != 0) return DType::q8_0;
    return target_.base == DType::q8_0 ? DType::q8_0 : DType::q6_k;
  }

  DType values_type(int layer) const {
    if (model_.n_experts == 8) return DType::q8_0;
    const DType type = by_rules(Part::values, layer, n_values_);
    return model_.is_70b && (type == DType::q3_k || type == DType::q4_k) ? DType::q5_k : type;
  }

  DType by_rules(Part part, int layer, int n) const {
    const bool own = is_falcon() && (part == Part::ffn_down || part == Part::attention_output);
    for (const Rule& rule : own ? std::span<const Rule>(kFalconRules) : std::span<const Rule>(kRules)) {
      if (rule.target != target_.name || rule.part != part) continue;
      if (holds(rule.where, layer, n)) return rule.then;
      if (rule.otherwise) return *rule.otherwise;
    }
    return target_.base;
  }

  bool holds(Where where, int layer, int n) const {
    switch (where) {
      case Where::everywhere:
        return true;
      case Where::first_two:
        return layer < 2;
      case Where::first_four:
        return layer < 4;
      case Where::first_sixteenth:
        return layer < n / 16;
      case Where::first_eighth:
        return layer < n / 8;
      case Where::first_eighth_blind:
        return layer < n / 8 && !model_.has_imatrix;
      case Where::first_eighth_informed:
        return layer < n / 8 && model_.has_imatrix;
      case Where::more_bits:
        return more_bits(layer, n);
      case Where::grouped_keys:
        return model_.n_gqa >= 4;
    }
    return false;
  }

  static MixChoice fit(const MixTensor& t, DType wanted) {
    if (t.ne[0] % info(wanted).block_elems == 0) return {.type = wanted};
    DType instead = DType::f16;  // a row that is no multiple of 32 either
    for (const Substitute& s : kSubstitutes) {
      if (s.wanted == wanted && t.ne[0] % info(s.instead).block_elems == 0) instead = s.instead;
    }
    return {.type = instead, .is_fallback = true};
  }

  bool is_falcon() const { return model_.arch == "falcon"; }

  const Target& target_;
  const MixModel& model_;
  const MixOptions& options_;
  bool is_tied_ = true;
  int n_values_ = 0, n_values_seen_ = 0, n_downs_seen_ = 0;
};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  for (const Target& t : kTargets) {
    if (same_letters(name, t.name) || (!t.alias.empty() && same_letters(name, t.alias))) return &t;
  }
  return nullptr;
}

Result<TypeRule> TypeRule::parse(std::string_view text) {
  const size_t at = text.rfind('=');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) {
    return fail(ErrorCode::invalid_argument, "found '{}', expected PATTERN=TYPE such as attn_v=q6_K", text);
  }
  const std::optional<DType> type = dtype_from_name(text.substr(at + 1));
  const Format* format = type ? find_format(*type) : nullptr;
  if (format == nullptr || format->encode == nullptr) {
    return fail(ErrorCode::invalid_argument, "'{}': '{}' is no type that can be written", text, text.substr(at + 1));
  }
  std::string pattern(text.substr(0, at));
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (i == 0 || pattern[i - 1] != '\\')
      pattern[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(pattern[i])));
  }
  RIDGE_TRY(Pattern parsed, Pattern::parse(pattern));
  return TypeRule(std::move(parsed), *type);
}

std::optional<int> layer_of(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int layer = -1;
  const char* end = name.data() + name.size();
  const auto [stop, ec] = std::from_chars(name.data() + kPrefix.size(), end, layer);
  if (ec != std::errc() || layer < 0 || stop == end || *stop != '.') return std::nullopt;
  return layer;
}

bool is_quantisable(const MixTensor& t) {
  if (t.n_dims < 2 || !t.name.ends_with("weight") || find_format(t.type) == nullptr) return false;
  if (std::find(std::begin(kKeptWhole), std::end(kKeptWhole), t.name) != std::end(kKeptWhole)) return false;
  return std::none_of(std::begin(kKept), std::end(kKept), [&](std::string_view k) { return contains(t.name, k); });
}

Result<std::vector<MixChoice>> choose_mix(const Target& target, const MixModel& model,
                                          std::span<const MixTensor> tensors, const MixOptions& options) {
  // Layers are counted in this order: by number, then by name, tensors of no layer first.
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int la = layer_of(tensors[a].name).value_or(-1), lb = layer_of(tensors[b].name).value_or(-1);
    return la != lb ? la < lb : tensors[a].name < tensors[b].name;
  });
  std::vector<MixChoice> choices(tensors.size());
  Chooser chooser(target, model, tensors, options);
  for (const size_t i : order) {
    RIDGE_TRY(choices[i], chooser.choose(tensors[i]));
  }
  return choices;
}

}  // namespace ridge::quant
