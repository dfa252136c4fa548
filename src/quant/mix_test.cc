// The choices of llama-quantize for models of known shapes. The expected figures are counted by hand from the published
// files' tensor tables and from llama.cpp's rules, layer by layer.
#include "quant/mix.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "quant/formats.h"

namespace ridge::quant {
namespace {

struct Shape {
  int n_layers = 32, n_embd = 4096, n_ff = 14336, n_kv = 1024, n_vocab = 128256, n_experts = 0, n_gqa = 4;
  bool tied = false, has_imatrix = false, is_70b = false;
  std::string arch = "llama";
};

struct Model {
  std::deque<std::string> names;
  std::vector<MixTensor> tensors;
  MixModel facts;

  void add(std::string name, int64_t ne0, int64_t ne1, int64_t ne2 = 1) {
    names.push_back(std::move(name));
    tensors.push_back({.name = names.back(),
                       .type = ne1 > 1 ? DType::f16 : DType::f32,
                       .n_dims = ne2 > 1 ? 3u : (ne1 > 1 ? 2u : 1u),
                       .ne = {ne0, ne1, ne2, 1}});
  }
};

Model make(const Shape& s) {
  Model m;
  m.facts = {.arch = s.arch,
             .n_layers = s.n_layers,
             .n_experts = s.n_experts,
             .n_gqa = s.n_gqa,
             .is_70b = s.is_70b,
             .has_imatrix = s.has_imatrix};
  m.add("token_embd.weight", s.n_embd, s.n_vocab);
  m.add("output_norm.weight", s.n_embd, 1);
  if (!s.tied) m.add("output.weight", s.n_embd, s.n_vocab);
  for (int i = 0; i < s.n_layers; ++i) {
    const std::string b = "blk." + std::to_string(i) + ".";
    m.add(b + "attn_norm.weight", s.n_embd, 1);
    m.add(b + "attn_q.weight", s.n_embd, s.n_embd);
    m.add(b + "attn_q.bias", s.n_embd, 1);
    m.add(b + "attn_k.weight", s.n_embd, s.n_kv);
    m.add(b + "attn_v.weight", s.n_embd, s.n_kv);
    m.add(b + "attn_output.weight", s.n_embd, s.n_embd);
    if (s.n_experts > 0) {
      m.add(b + "ffn_gate_inp.weight", s.n_embd, s.n_experts);
      m.add(b + "ffn_gate_exps.weight", s.n_embd, s.n_ff, s.n_experts);
      m.add(b + "ffn_up_exps.weight", s.n_embd, s.n_ff, s.n_experts);
      m.add(b + "ffn_down_exps.weight", s.n_ff, s.n_embd, s.n_experts);
    } else {
      m.add(b + "ffn_gate.weight", s.n_embd, s.n_ff);
      m.add(b + "ffn_up.weight", s.n_embd, s.n_ff);
      m.add(b + "ffn_down.weight", s.n_ff, s.n_embd);
    }
  }
  return m;
}

std::map<std::string, MixChoice> choose(std::string_view target, const Shape& shape, const MixOptions& options = {}) {
  const Model m = make(shape);
  const auto choices = choose_mix(*find_target(target), m.facts, m.tensors, options);
  EXPECT_TRUE(choices) << choices.error().message;
  std::map<std::string, MixChoice> by_name;
  for (size_t i = 0; i < m.tensors.size(); ++i) by_name[std::string(m.tensors[i].name)] = (*choices)[i];
  return by_name;
}

// The layers whose tensor `part` has the type.
std::set<int> layers_with(const std::map<std::string, MixChoice>& mix, const std::string& part, DType type) {
  std::set<int> layers;
  for (const auto& [name, choice] : mix) {
    const auto layer = layer_of(name);
    if (layer && name == "blk." + std::to_string(*layer) + "." + part + ".weight" && choice.type == type)
      layers.insert(*layer);
  }
  return layers;
}

const std::set<int> kMoreOf32 = {0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31};

TEST(Mix, q4_k_m_gives_more_bits_to_values_and_down_at_both_ends_and_every_third_layer) {
  const auto mix = choose("Q4_K_M", {});
  EXPECT_EQ(mix.at("output.weight").type, DType::q6_k);
  EXPECT_EQ(mix.at("token_embd.weight").type, DType::q4_k);
  EXPECT_EQ(layers_with(mix, "attn_v", DType::q6_k), kMoreOf32);
  EXPECT_EQ(layers_with(mix, "ffn_down", DType::q6_k), kMoreOf32);
  EXPECT_EQ(layers_with(mix, "attn_v", DType::q4_k).size(), 16u);
  for (const char* part : {"attn_q", "attn_k", "attn_output", "ffn_gate", "ffn_up"})
    EXPECT_EQ(layers_with(mix, part, DType::q4_k).size(), 32u) << part;
}

TEST(Mix, q4_k_m_of_llama_3_8b_has_the_published_size) {
  const Model m = make({});
  const auto choices = choose_mix(*find_target("Q4_K_M"), m.facts, m.tensors, {});
  ASSERT_TRUE(choices);
  uint64_t bytes = 0;
  for (size_t i = 0; i < m.tensors.size(); ++i) {
    const MixTensor& t = m.tensors[i];
    if (t.name.ends_with("bias")) continue;  // this architecture has none
    bytes += row_bytes((*choices)[i].type, t.ne[0]) * static_cast<uint64_t>(t.ne[1]);
  }
  // Meta-Llama-3-8B-Instruct.Q4_K_M.gguf: 4.58 GiB and 4.89 bits a weight, as llama.cpp prints them.
  EXPECT_NEAR(static_cast<double>(bytes) / (1 << 30), 4.58, 0.005);
  EXPECT_NEAR(static_cast<double>(bytes) * 8 / 8.03e9, 4.89, 0.02);
}

TEST(Mix, the_small_and_large_variants_differ_where_llama_quantize_says) {
  const auto q4s = choose("Q4_K_S", {});
  EXPECT_EQ(layers_with(q4s, "attn_v", DType::q5_k), (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(layers_with(q4s, "ffn_down", DType::q5_k), (std::set<int>{0, 1, 2, 3}));
  const auto q3m = choose("Q3_K_M", {});
  EXPECT_EQ(layers_with(q3m, "attn_v", DType::q5_k), (std::set<int>{0, 1}));
  EXPECT_EQ(layers_with(q3m, "attn_v", DType::q4_k).size(), 30u);
  EXPECT_EQ(layers_with(q3m, "ffn_down", DType::q5_k), (std::set<int>{0, 1}));
  EXPECT_EQ(layers_with(q3m, "attn_output", DType::q4_k).size(), 32u);
  EXPECT_EQ(layers_with(q3m, "attn_q", DType::q3_k).size(), 32u);
  const auto q3l = choose("Q3_K_L", {});
  for (const char* part : {"attn_v", "ffn_down", "attn_output"})
    EXPECT_EQ(layers_with(q3l, part, DType::q5_k).size(), 32u) << part;
  const auto q3s = choose("Q3_K_S", {});
  for (const char* part : {"attn_v", "ffn_down", "attn_output", "ffn_up"})
    EXPECT_EQ(layers_with(q3s, part, DType::q3_k).size(), 32u) << part;
  const auto q5m = choose("Q5_K_M", {});
  EXPECT_EQ(layers_with(q5m, "ffn_down", DType::q6_k), kMoreOf32);
  EXPECT_EQ(layers_with(choose("Q5_K_S", {}), "ffn_down", DType::q5_k).size(), 32u);
  EXPECT_EQ(choose("Q5_K_S", {}).at("output.weight").type, DType::q6_k);
}

TEST(Mix, q2_k_spares_the_values_where_query_heads_share_them) {
  EXPECT_EQ(layers_with(choose("Q2_K", {}), "attn_v", DType::q4_k).size(), 32u);
  EXPECT_EQ(layers_with(choose("Q2_K", {.n_gqa = 1}), "attn_v", DType::q3_k).size(), 32u);
  EXPECT_EQ(layers_with(choose("Q2_K", {}), "ffn_down", DType::q3_k).size(), 32u);
  EXPECT_EQ(layers_with(choose("Q2_K", {}), "attn_output", DType::q3_k).size(), 32u);
  EXPECT_EQ(choose("Q2_K", {}).at("token_embd.weight").type, DType::q2_k);
}

TEST(Mix, an_importance_matrix_changes_iq4_and_the_legacy_formats) {
  const std::set<int> eighth = {0, 1, 2, 3};
  EXPECT_EQ(layers_with(choose("IQ4_XS", {}), "ffn_down", DType::q5_k), eighth);
  EXPECT_EQ(layers_with(choose("IQ4_XS", {.has_imatrix = true}), "ffn_down", DType::iq4_xs).size(), 32u);
  EXPECT_EQ(layers_with(choose("IQ4_NL", {}), "attn_v", DType::q5_k).size(), 32u);
  EXPECT_EQ(layers_with(choose("IQ4_NL", {.n_gqa = 2}), "attn_v", DType::iq4_nl).size(), 32u);
  EXPECT_EQ(layers_with(choose("Q4_0", {}), "ffn_down", DType::q4_0).size(), 32u);
  EXPECT_EQ(layers_with(choose("Q4_0", {.has_imatrix = true}), "ffn_down", DType::q4_1), eighth);
  EXPECT_EQ(layers_with(choose("Q5_0", {.has_imatrix = true}), "ffn_down", DType::q5_1), eighth);
}

TEST(Mix, a_tied_embedding_is_the_head) {
  EXPECT_EQ(choose("Q4_K_M", {.tied = true}).at("token_embd.weight").type, DType::q6_k);
  EXPECT_EQ(choose("Q4_0", {.tied = true}).at("token_embd.weight").type, DType::q6_k);
  EXPECT_EQ(choose("Q8_0", {.tied = true}).at("token_embd.weight").type, DType::q8_0);
  EXPECT_EQ(choose("Q4_K_M", {.tied = true}, {.output = DType::q8_0}).at("token_embd.weight").type, DType::q8_0);
}

TEST(Mix, eight_experts_have_spared_attention_and_layers_by_name) {
  const auto mix = choose("Q4_K_M", {.n_experts = 8});
  EXPECT_EQ(layers_with(mix, "attn_v", DType::q8_0).size(), 32u);
  EXPECT_EQ(layers_with(mix, "attn_k", DType::q8_0).size(), 32u);
  EXPECT_EQ(layers_with(mix, "attn_output", DType::q5_k).size(), 32u);
  EXPECT_EQ(layers_with(mix, "ffn_down_exps", DType::q6_k), kMoreOf32);
  EXPECT_TRUE(mix.at("blk.0.ffn_gate_inp.weight").is_kept);
  const auto many = choose("Q4_K_M", {.n_experts = 128});
  EXPECT_EQ(layers_with(many, "attn_v", DType::q6_k), kMoreOf32);
  EXPECT_EQ(layers_with(many, "attn_k", DType::q4_k).size(), 32u);
}

TEST(Mix, mxfp4_is_for_experts_and_the_rest_is_q8_0) {
  const auto mix = choose("MXFP4", {.n_experts = 32});
  EXPECT_EQ(layers_with(mix, "ffn_up_exps", DType::mxfp4).size(), 32u);
  EXPECT_EQ(layers_with(mix, "attn_q", DType::q8_0).size(), 32u);
  EXPECT_EQ(mix.at("output.weight").type, DType::q8_0);
  EXPECT_EQ(layers_with(choose("MXFP4", {}, {.pure = true}), "ffn_up", DType::mxfp4).size(), 32u);
}

TEST(Mix, values_of_a_70b_get_five_bits) {
  const auto mix = choose("Q4_K_M", {.n_layers = 80, .is_70b = true});
  EXPECT_EQ(layers_with(mix, "attn_v", DType::q4_k).size(), 0u);
  EXPECT_EQ(layers_with(mix, "attn_v", DType::q5_k).size() + layers_with(mix, "attn_v", DType::q6_k).size(), 80u);
}

TEST(Mix, rows_that_are_no_multiple_of_256_fall_back_and_say_so) {
  const Shape odd{.n_embd = 896, .n_ff = 4864, .n_kv = 128, .n_gqa = 7};  // Qwen2.5-0.5B
  const auto mix = choose("Q4_K_M", odd);
  EXPECT_EQ(mix.at("blk.5.attn_q.weight").type, DType::q5_0);
  EXPECT_TRUE(mix.at("blk.5.attn_q.weight").is_fallback);
  EXPECT_EQ(mix.at("blk.0.attn_v.weight").type, DType::q8_0);
  EXPECT_EQ(mix.at("blk.0.ffn_down.weight").type, DType::q6_k);
  EXPECT_FALSE(mix.at("blk.0.ffn_down.weight").is_fallback);
  EXPECT_EQ(mix.at("output.weight").type, DType::q8_0);
  EXPECT_EQ(choose("Q5_K_M", odd).at("blk.5.attn_q.weight").type, DType::q5_1);
  EXPECT_EQ(choose("Q6_K", odd).at("blk.5.attn_q.weight").type, DType::q8_0);
  EXPECT_EQ(choose("Q3_K_S", odd).at("blk.5.attn_q.weight").type, DType::q4_0);
  EXPECT_EQ(choose("IQ4_XS", odd).at("blk.5.attn_q.weight").type, DType::iq4_nl);
  const auto tiny = choose("Q8_0", {.n_embd = 100, .n_ff = 100, .n_kv = 100});
  EXPECT_EQ(tiny.at("blk.5.attn_q.weight").type, DType::f16);
  EXPECT_TRUE(tiny.at("blk.5.attn_q.weight").is_fallback);
}

TEST(Mix, norms_biases_and_gates_stay_as_they_are) {
  for (const Target& target : targets()) {
    const auto mix = choose(target.name, {.n_experts = 16});
    for (const char* name : {"output_norm.weight", "blk.3.attn_norm.weight", "blk.3.attn_q.bias"}) {
      EXPECT_TRUE(mix.at(name).is_kept) << target.name << " " << name;
      EXPECT_EQ(mix.at(name).type, DType::f32) << target.name << " " << name;
    }
    EXPECT_EQ(mix.at("blk.3.ffn_gate_inp.weight").type, DType::f16) << target.name;
  }
}

TEST(Mix, plain_targets_are_one_format_but_for_the_head) {
  for (const char* name : {"F32", "F16", "BF16", "Q8_0"}) {
    const Target& target = *find_target(name);
    for (const auto& [tensor, choice] : choose(name, {})) {
      EXPECT_TRUE(choice.is_kept || choice.type == target.base) << tensor;
    }
  }
}

TEST(Mix, rules_and_options_overrule_the_mix) {
  MixOptions options{.output = DType::f16, .token_embedding = DType::q8_0};
  auto rule = TypeRule::parse(R"(blk\.[01]\.ffn_(up|gate)=Q8_0)");
  ASSERT_TRUE(rule) << rule.error().message;
  options.rules = {*rule, *TypeRule::parse("ffn_up=q5_0")};
  const auto mix = choose("Q4_K_M", {}, options);
  EXPECT_EQ(mix.at("output.weight").type, DType::f16);
  EXPECT_EQ(mix.at("token_embd.weight").type, DType::q8_0);
  EXPECT_EQ(layers_with(mix, "ffn_up", DType::q8_0), (std::set<int>{0, 1}));
  EXPECT_EQ(layers_with(mix, "ffn_up", DType::q5_0).size(), 30u);
  const auto pure = choose("Q4_K_M", {}, {.pure = true});
  EXPECT_EQ(layers_with(pure, "ffn_down", DType::q4_k).size(), 32u);
  EXPECT_EQ(pure.at("output.weight").type, DType::q4_k);
  const auto left = choose("Q4_K_M", {}, {.leave_output = true});
  EXPECT_TRUE(left.at("output.weight").is_kept);
}

TEST(Mix, rules_that_make_no_sense_are_refused) {
  for (const char* text :
       {"", "=", "attn_v", "attn_v=", "=q4_K", "attn_v=q9_9", "attn_v=i32", "attn_v=iq1_s", "(=q4_K"}) {
    const auto rule = TypeRule::parse(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Mix, an_expert_tensor_without_its_layer_is_refused) {
  Model m = make({.n_layers = 2, .n_experts = 4});
  m.add("blk.2.ffn_down_exps.weight", 256, 256, 4);
  const auto choices = choose_mix(*find_target("Q4_K_M"), m.facts, m.tensors, {});
  ASSERT_FALSE(choices);
  EXPECT_NE(choices.error().message.find("blk.2.ffn_down_exps.weight"), std::string::npos);
}

TEST(Mix, names_are_found_in_either_case_and_by_alias) {
  EXPECT_EQ(find_target("q4_k_m")->name, "Q4_K_M");
  EXPECT_EQ(find_target("Q4_K")->name, "Q4_K_M");
  EXPECT_EQ(find_target("q3_k")->file_type, 12u);
  EXPECT_EQ(find_target("IQ1_S"), nullptr);
  EXPECT_EQ(find_target(""), nullptr);
  EXPECT_EQ(layer_of("blk.12.attn_q.weight"), 12);
  for (const char* name : {"blk.", "blk.x.a", "blk.1", "output.weight", "blk.-1.a"})
    EXPECT_FALSE(layer_of(name)) << name;
}

}  // namespace
}  // namespace ridge::quant
