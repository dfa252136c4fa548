// Numbers of hostile and odd files, and the RoPE frequencies that follow from honest ones.
// Size: the table of hostile values is one function, so that a case is one row to read.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numbers>

#include "model/model_test_util.h"
#include "model/rope.h"

namespace ridge::testing {
namespace {

struct Change {
  std::string key;
  std::optional<MetaValue> value;  // nullopt: the key is left out
};

// A golden file with some keys changed, loaded without a device.
Result<std::unique_ptr<Model>> load_changed(const GgufFile& file, const std::vector<Change>& changes) {
  GgufWriter writer;
  const auto changed = [&](std::string_view key) {
    return std::find_if(changes.begin(), changes.end(), [&](const Change& c) { return c.key == key; }) != changes.end();
  };
  for (const MetaEntry& e : file.metadata()) {
    if (!changed(e.key)) writer.add(e.key, e.value);
  }
  for (const Change& c : changes) {
    if (c.value) writer.add(c.key, *c.value);
  }
  for (const TensorView& t : file.tensors()) writer.add_tensor(t);
  RIDGE_TRY(const std::vector<std::byte> bytes, writer.serialise());
  RIDGE_TRY(const GgufFile edited, GgufFile::parse(bytes));
  return load_model(edited, {});
}

struct Hostile {
  const char* stem;
  std::vector<Change> changes;
  std::vector<std::string> says;
};

TEST(Hparams, hostile_values_are_refused_by_key_with_what_was_found_and_expected) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Hostile> table = {
      {"llama-dense", {{"llama.block_count", uint32_t{0}}}, {"'llama.block_count'", "found 0", "expected 1 to 1024"}},
      {"llama-dense", {{"llama.block_count", uint32_t{1025}}}, {"'llama.block_count'", "found 1025"}},
      {"llama-dense", {{"llama.block_count", uint32_t{1} << 31}}, {"'llama.block_count'", "found 2147483648"}},
      {"llama-dense", {{"llama.block_count", ~uint32_t{0}}}, {"'llama.block_count'", "found 4294967295"}},
      {"llama-dense", {{"llama.block_count", int32_t{-1}}}, {"'llama.block_count'", "found -1"}},
      {"llama-dense", {{"llama.block_count", uint32_t{513}}}, {"'blk.2.attn_norm.weight'", "missing"}},
      {"llama-dense", {{"llama.block_count", {}}}, {"llama.block_count"}},
      {"llama-dense", {{"llama.attention.head_count", uint32_t{0}}}, {"'llama.attention.head_count'", "found 0"}},
      {"llama-dense", {{"llama.attention.head_count_kv", uint32_t{0}}}, {"'llama.attention.head_count_kv'", "found 0"}},
      {"llama-dense",
       {{"llama.attention.head_count_kv", uint32_t{3}}},
       {"head_count_kv", "found 3", "divisor of the 4"}},
      {"llama-dense",
       {{"llama.attention.head_count_kv", uint32_t{8}}},
       {"head_count_kv", "found 8", "divisor of the 4"}},
      {"llama-dense", {{"llama.embedding_length", uint32_t{0}}}, {"'llama.embedding_length'", "found 0"}},
      {"llama-dense",
       {{"llama.embedding_length", uint32_t{255}}},
       {"'llama.embedding_length'", "found 255", "multiple of the 4 heads"}},
      {"llama-dense", {{"llama.embedding_length", uint64_t{1} << 62}}, {"'llama.embedding_length'"}},
      {"llama-dense", {{"llama.context_length", std::string_view("64")}}, {"llama.context_length", "string"}},
      {"llama-dense", {{"llama.context_length", uint32_t{0}}}, {"'llama.context_length'", "found 0"}},
      {"llama-dense", {{"llama.context_length", {}}}, {"llama.context_length"}},
      {"llama-dense",
       {{"llama.rope.dimension_count", uint32_t{999}}},
       {"'llama.rope.dimension_count'", "found 999", "head_dim of 64"}},
      {"llama-dense",
       {{"llama.rope.dimension_count", uint32_t{63}}},
       {"'llama.rope.dimension_count'", "found 63", "even"}},
      {"llama-dense", {{"llama.rope.freq_base", nan}}, {"'llama.rope.freq_base'", "found nan"}},
      {"llama-dense", {{"llama.rope.freq_base", 0.0f}}, {"'llama.rope.freq_base'", "found 0"}},
      {"llama-dense",
       {{"llama.rope.scaling.type", std::string_view("cubic")}},
       {"'llama.rope.scaling.type'", "'cubic'", "yarn"}},
      {"llama-dense", {{"llama.rope.scaling.factor", -2.0f}}, {"'llama.rope.scaling.factor'", "found -2"}},
      {"llama-dense", {{"llama.rope.scaling.factor", 1e-20f}}, {"'llama.rope.scaling.factor'"}},
      {"llama-dense", {{"llama.attention.layer_norm_rms_epsilon", {}}}, {"layer_norm_rms_epsilon"}},
      {"llama-dense", {{"llama.attention.layer_norm_rms_epsilon", nan}}, {"layer_norm_rms_epsilon", "nan"}},
      {"llama-dense", {{"llama.feed_forward_length", {}}}, {"feed_forward_length"}},
      {"llama-dense",
       {{"llama.feed_forward_length", uint32_t{1} << 31}},
       {"'llama.feed_forward_length'", "found 2147483648"}},
      {"llama-dense", {{"llama.attention.key_length", uint32_t{0}}}, {"'llama.attention.key_length'", "found 0"}},
      {"llama-dense", {{"llama.attention.key_length", uint32_t{1} << 30}}, {"'llama.attention.key_length'"}},
      {"llama-dense",
       {{"llama.attention.value_length", uint32_t{5000}}},
       {"'llama.attention.value_length'", "found 5000"}},
      {"llama-moe", {{"llama.expert_used_count", uint32_t{9}}}, {"'llama.expert_used_count'", "found 9", "1 to 4"}},
      {"llama-moe", {{"llama.expert_used_count", uint32_t{0}}}, {"'llama.expert_used_count'", "found 0"}},
      {"llama-moe", {{"llama.expert_count", uint32_t{0}}}, {"'llama.expert_used_count'", "found 2", "expected 0 to 0"}},
      {"llama-moe", {{"llama.expert_count", uint32_t{1} << 20}}, {"'llama.expert_count'", "found 1048576"}},
      {"qwen3moe-moe", {{"qwen3moe.expert_count", uint32_t{0}}}, {"qwen3moe.expert"}},
      {"qwen2moe-moe", {{"qwen2moe.expert_used_count", uint32_t{0}}}, {"'qwen2moe.expert_used_count'", "found 0"}},
      {"gpt-oss-moe", {{"gpt-oss.attention.sliding_window", {}}}, {"gpt-oss.attention.sliding_window"}},
      {"gpt-oss-moe", {{"gpt-oss.expert_count", {}}}, {"gpt-oss.expert"}},
      {"gemma2-dense", {{"gemma2.attn_logit_softcapping", nan}}, {"'gemma2.attn_logit_softcapping'", "nan"}},
      {"granite-dense", {{"granite.logit_scale", 0.0f}}, {"'granite.logit_scale'", "found 0"}},
      {"granite-dense", {{"granite.logit_scale", {}}}, {"granite.logit_scale"}},
  };
  for (const Hostile& h : table) {
    const auto file = GgufFile::open(golden / "architectures" / (std::string(h.stem) + ".gguf"));
    ASSERT_TRUE(file);
    const auto start = std::chrono::steady_clock::now();
    const auto got = load_changed(*file, h.changes);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << h.changes[0].key;
    ASSERT_FALSE(got) << h.stem << " " << h.changes[0].key;
    for (const std::string& part : h.says)
      EXPECT_NE(got.error().message.find(part), std::string::npos) << got.error().message;
  }
}

TEST(Hparams, arrays_by_layer_are_read_and_their_length_checked) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto file = GgufFile::open(golden / "architectures" / "llama-dense.gguf");
  ASSERT_TRUE(file);
  const auto array = [](const std::vector<uint32_t>& values) {
    return MetaValue(PackedArray<uint32_t>(std::as_bytes(std::span(values))));
  };
  const std::vector<uint32_t> two = {384, 384}, three = {384, 384, 384}, other = {384, 192};
  EXPECT_TRUE(load_changed(*file, {{"llama.feed_forward_length", array(two)}}));
  auto got = load_changed(*file, {{"llama.feed_forward_length", array(three)}});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("llama.feed_forward_length"), std::string::npos) << got.error().message;
  got = load_changed(*file, {{"llama.feed_forward_length", array(other)}});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("'blk.1.ffn_gate.weight'"), std::string::npos) << got.error().message;
}

TEST(Hparams, optional_keys_have_the_defaults_that_files_count_on) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto path = golden / ".." / "models" / "stories260K.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no models/stories260K.gguf beside the golden data";
  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file);
  const auto got = load_model(*file, {});
  ASSERT_TRUE(got) << got.error().message;
  const Hparams& h = (*got)->config();
  EXPECT_EQ(h.k_dim, 8);
  EXPECT_EQ(h.n_vocab, 512);
  EXPECT_EQ(h.rope.freq_base, 10000.0f);
  EXPECT_EQ(h.rope.n_ctx_orig, 512);
  EXPECT_EQ(h.rope.scaling, RopeScaling::linear);
  EXPECT_EQ(h.rope.factor, 1.0f);
  EXPECT_EQ((*got)->kv_layers().size(), 5u);
  EXPECT_EQ((*got)->arena_floats(0, 0), 0);
  EXPECT_GT((*got)->arena_floats(512, 512), 512 * 512);
}

// ---- RoPE
// -------------------------------------------------------------------------------------------------------------------

TEST(Rope, plain_and_linear_frequencies) {
  const RopeSpec plain = make_rope({.n_rot = 8}, {.freq_base = 10000.0f});
  ASSERT_EQ(plain.inv_freq.size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(plain.inv_freq[i], static_cast<float>(std::pow(10.0, -static_cast<double>(i))));
  EXPECT_EQ(plain.magnitude, 1.0f);
  const RopeSpec linear = make_rope({.n_rot = 8, .factor = 4.0f, .ext_factor = 0.0f}, {.freq_base = 10000.0f});
  for (size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(linear.inv_freq[i], plain.inv_freq[i] / 4);
}

// The textbook form of YaRN (section 3.2): r rotations over the original context; kept whole above beta_fast, stretched
// below beta_slow, a ramp over the pair index between.
TEST(Rope, yarn_keeps_fast_pairs_stretches_slow_ones_and_scales_the_magnitude) {
  const RopeHparams h{.n_rot = 128, .scaling = RopeScaling::yarn, .factor = 40.0f, .n_ctx_orig = 4096};
  const RopeSpec spec = make_rope(h, {.freq_base = 10000.0f});
  for (int i = 0; i < 64; ++i) {
    const double plain = std::pow(10000.0, -2.0 * i / 128), rotations = 4096 * plain / (2 * std::numbers::pi);
    const double got = spec.inv_freq[static_cast<size_t>(i)];
    if (rotations > 40) {
      EXPECT_NEAR(got / plain, 1.0, 1e-6) << i;
    } else if (rotations < 0.8) {
      EXPECT_NEAR(got / plain, 1.0 / 40, 1e-6) << i;
    } else {
      EXPECT_LE(got, plain * 1.000001) << i;
      EXPECT_GE(got, plain / 40 * 0.999999) << i;
    }
  }
  EXPECT_FLOAT_EQ(spec.magnitude, static_cast<float>(1.0 + 0.1 * std::log(40.0)));
}

TEST(Rope, yarn_log_multiplier_of_one_cancels_the_magnitude) {
  const RopeHparams h{.n_rot = 64, .scaling = RopeScaling::yarn, .factor = 16.0f, .n_ctx_orig = 16384};
  EXPECT_FLOAT_EQ(make_rope(h, {.freq_base = 1e6f, .log_multiplier = 1.0}).magnitude, 1.0f);
  EXPECT_FLOAT_EQ(make_rope(h, {.freq_base = 1e6f, .log_multiplier = 0.5}).magnitude,
                  static_cast<float>((1 + 0.1 * std::log(16.0)) / (1 + 0.05 * std::log(16.0))));
}

TEST(Buglog, MOD_01_llama3_factors_divide_the_frequencies) {
  const std::vector<float> factors = {1.0f, 1.0f, 2.5f, 8.0f};
  const RopeSpec plain = make_rope({.n_rot = 8, .ext_factor = 0.0f}, {.freq_base = 500000.0f});
  const RopeSpec scaled = make_rope({.n_rot = 8, .ext_factor = 0.0f}, {.freq_base = 500000.0f, .factors = factors});
  for (size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(scaled.inv_freq[i], plain.inv_freq[i] / factors[i]);
}

// A phi3 file with both sets of LongRoPE factors.
TEST(Rope, longrope_factors_are_chosen_by_the_context_that_is_served) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto file = GgufFile::open(golden / "architectures" / "phi3-dense.gguf");
  ASSERT_TRUE(file);
  GgufWriter writer;
  for (const MetaEntry& e : file->metadata()) writer.add(e.key, e.value);
  writer.add("phi3.rope.scaling.original_context_length", uint32_t{64});
  writer.add("phi3.rope.scaling.attn_factor", 1.19f);
  for (const TensorView& t : file->tensors()) writer.add_tensor(t);
  const std::vector<float> longer(32, 4.0f), shorter(32, 2.0f);
  TensorView t{.name = "rope_factors_long.weight", .dtype = DType::f32, .n_dims = 1, .ne = {32, 1, 1, 1}};
  t.data = reinterpret_cast<const std::byte*>(longer.data());
  writer.add_tensor(t);
  t.name = "rope_factors_short.weight";
  t.data = reinterpret_cast<const std::byte*>(shorter.data());
  writer.add_tensor(t);
  const auto bytes = writer.serialise();
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto edited = GgufFile::parse(*bytes);
  ASSERT_TRUE(edited) << edited.error().message;
  for (const auto& [n_ctx, first] : {std::pair{64, 0.5f}, {65, 0.25f}, {0, 0.25f}}) {
    const auto model = load_model(*edited, {.n_ctx = n_ctx});
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_TRUE((*model)->unused_tensors().empty());
    std::vector<int32_t> row(1, 0);
    std::vector<KvLayer> kv;
    for (const LayerState& l : (*model)->kv_layers())
      kv.push_back({.n_kv_head = l.n_kv_head, .k_dim = l.k_dim, .v_dim = l.v_dim});
    Program program;
    Encoder e(program, {.tokens = row, .seqs = {}, .out_rows = {}, .kv = kv});
    (*model)->forward(e);
    for (const Verb& v : program.verbs) {
      if (const auto* rope = std::get_if<verb::Rope>(&v.body)) {
        EXPECT_FLOAT_EQ(rope->spec->inv_freq[0], first) << n_ctx;
        EXPECT_FLOAT_EQ(rope->spec->magnitude, 1.19f);
      }
    }
  }
}

}  // namespace
}  // namespace ridge::testing
