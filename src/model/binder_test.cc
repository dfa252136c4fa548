// The binder against every golden model: each tensor dropped and misshapen in turn must be refused by name. And what a
// file may do without.
#include <set>

#include "model/model_test_util.h"

namespace ridge::testing {
namespace {

using Edit = std::function<bool(TensorView&)>;  // false: leave the tensor out

// The file written again with its tensors edited, parsed from memory.
Result<std::unique_ptr<Model>> load_edited(const GgufFile& file, const Edit& edit, std::vector<std::byte>& bytes) {
  GgufWriter writer;
  for (const MetaEntry& e : file.metadata()) writer.add(e.key, e.value);
  for (TensorView t : file.tensors()) {
    if (edit(t)) writer.add_tensor(t);
  }
  RIDGE_TRY(bytes, writer.serialise());
  RIDGE_TRY(const GgufFile edited, GgufFile::parse(bytes));
  return load_model(edited, {});  // bound only: the verdict is all that is looked at
}

bool may_be_absent(std::string_view arch, std::string_view name) {
  if (name == "output.weight") return arch != "qwen2moe" && arch != "gpt-oss";
  return name == "rope_freqs.weight";
}

class EachModel : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto golden = golden_dir();
    if (!golden) GTEST_SKIP() << "no reference data: set RIDGE_GOLDEN to the folder that holds it";
    auto file = GgufFile::open(*golden / "architectures" / (GetParam() + ".gguf"));
    ASSERT_TRUE(file) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
    arch_ = file_->get_string("general.architecture").value();
  }

  void expect_refused(std::string_view name, std::string_view what, const Edit& edit) {
    std::vector<std::byte> bytes;
    const auto got = load_edited(*file_, edit, bytes);
    ASSERT_FALSE(got) << name << " " << what;
    EXPECT_NE(got.error().message.find(fmt::format("'{}'", name)), std::string::npos) << got.error().message;
    EXPECT_NE(got.error().message.find(what), std::string::npos) << got.error().message;
    EXPECT_NE(got.error().message.find("expected"), std::string::npos) << got.error().message;
  }

  std::unique_ptr<GgufFile> file_;
  std::string arch_;
};

TEST_P(EachModel, uses_every_tensor_of_its_file) {
  const auto got = load_model(*file_, {});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE((*got)->unused_tensors().empty()) << (*got)->unused_tensors().front();
  uint64_t n = file_->n_params();
  for (const TensorView& t : file_->tensors()) {
    if (t.name.starts_with("rope_"))
      n -= static_cast<uint64_t>(t.n_elems());  // numbers of the rotary embedding, not weights
  }
  EXPECT_EQ(static_cast<uint64_t>((*got)->n_params()), n);
}

TEST_P(EachModel, refuses_each_missing_tensor_by_name) {
  for (const TensorView& gone : file_->tensors()) {
    const Edit edit = [&](TensorView& t) { return t.name != gone.name; };
    if (!may_be_absent(arch_, gone.name)) {
      expect_refused(gone.name, "is missing", edit);
      continue;
    }
    std::vector<std::byte> bytes;
    const auto got = load_edited(*file_, edit, bytes);
    EXPECT_TRUE(got) << got.error().message;
  }
}

TEST_P(EachModel, refuses_each_misshapen_tensor_by_name) {
  for (const TensorView& wrong : file_->tensors()) {
    for (uint32_t dim = 0; dim < wrong.n_dims; ++dim) {
      expect_refused(wrong.name, "shape", [&](TensorView& t) {
        if (t.name == wrong.name) t.ne[dim] = t.ne[dim] > 1 ? t.ne[dim] / 2 : 2;
        return true;
      });
    }
    if (wrong.n_dims >= 2 && wrong.ne[0] != wrong.ne[1]) {
      expect_refused(wrong.name, "shape", [&](TensorView& t) {
        if (t.name == wrong.name) std::swap(t.ne[0], t.ne[1]);
        return true;
      });
    }
  }
}

TEST_P(EachModel, refuses_a_weight_of_integers) {
  for (const TensorView& wrong : file_->tensors()) {
    if (wrong.name.starts_with("rope_")) continue;
    expect_refused(wrong.name, "type i16", [&](TensorView& t) {
      if (t.name == wrong.name) t.dtype = DType::i16;
      return true;
    });
  }
}

std::vector<std::string> model_stems() {
  std::vector<std::string> stems;
  const auto golden = golden_dir();
  if (!golden) return stems;
  for (const std::string& stem : golden_stems(*golden / "architectures")) {
    if (!is_for_later(stem)) stems.push_back(stem);
  }
  return stems;
}

INSTANTIATE_TEST_SUITE_P(architectures, EachModel, ::testing::ValuesIn(model_stems()), [](const auto& c) {
  std::string name = c.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachModel);

TEST(Registry, has_a_golden_model_for_every_supported_architecture) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  std::set<std::string> with_data;
  for (const std::string& stem : golden_stems(golden / "architectures")) {
    const auto file = GgufFile::open(golden / "architectures" / (stem + ".gguf"));
    ASSERT_TRUE(file);
    with_data.emplace(file->get_string("general.architecture").value());
  }
  for (const Architecture& row : architectures()) {
    if (row.load != nullptr) {
      EXPECT_TRUE(with_data.contains(std::string(row.name))) << row.name;
    }
  }
}

TEST(Registry, refuses_known_and_unknown_architectures_by_name_with_the_list) {
  for (std::string_view name : {"deepseek2", "lfm2", "lfm2moe", "qwen35", "qwen35moe"}) {
    const auto got = find_architecture(name);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::unsupported);
    EXPECT_NE(got.error().message.find(fmt::format("'{}' is known but not supported yet", name)), std::string::npos)
        << got.error().message;
    EXPECT_NE(got.error().message.find("gpt-oss"), std::string::npos);
  }
  const auto got = find_architecture("no\nsuch");
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("is not known; supported are: llama, qwen2"), std::string::npos)
      << got.error().message;
  EXPECT_EQ(got.error().message.find('\n'), std::string::npos);
}

TEST(Registry, golden_files_for_later_are_refused_by_name) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  int n = 0;
  for (const std::string& stem : golden_stems(golden / "architectures")) {
    if (!is_for_later(stem)) continue;
    const auto file = GgufFile::open(golden / "architectures" / (stem + ".gguf"));
    ASSERT_TRUE(file);
    const auto got = load_model(*file, {});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::unsupported);
    ++n;
  }
  EXPECT_EQ(n, 3);
}

TEST(Binder, says_what_was_found_and_what_was_expected_in_the_models_own_terms) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto file = GgufFile::open(golden / "architectures" / "llama-dense.gguf");
  ASSERT_TRUE(file);
  std::vector<std::byte> bytes;
  auto got = load_edited(
      *file,
      [](TensorView& t) {
        if (t.name == "blk.1.attn_k.weight") t.ne[1] = 64;
        return true;
      },
      bytes);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message,
            "tensor 'blk.1.attn_k.weight': shape [256,64], expected [256,128] (n_embd x n_head_kv*key_length)");
  got = load_edited(
      *file, [](TensorView& t) { return t.name != "blk.0.ffn_down.weight"; }, bytes);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "tensor 'blk.0.ffn_down.weight' is missing, expected shape [384,256] (n_ff x n_embd)");
}

TEST(Binder, lists_tensors_that_nobody_asked_for) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto file = GgufFile::open(golden / "architectures" / "llama-dense.gguf");
  ASSERT_TRUE(file);
  GgufWriter writer;
  for (const MetaEntry& e : file->metadata()) writer.add(e.key, e.value);
  for (const TensorView& t : file->tensors()) writer.add_tensor(t);
  TensorView extra = file->tensors().front();
  extra.name = "blk.7.something.else";
  writer.add_tensor(extra);
  const auto bytes = writer.serialise();
  ASSERT_TRUE(bytes);
  const auto edited = GgufFile::parse(*bytes);
  ASSERT_TRUE(edited);
  const auto got = load_model(*edited, {});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(std::vector<std::string>((*got)->unused_tensors().begin(), (*got)->unused_tensors().end()),
            std::vector<std::string>{"blk.7.something.else"});
}

TEST(Binder, one_bias_of_three_is_a_file_that_lost_something) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto file = GgufFile::open(golden / "architectures" / "qwen2-dense.gguf");
  ASSERT_TRUE(file);
  std::vector<std::byte> bytes;
  auto got = load_edited(
      *file, [](TensorView& t) { return !t.name.ends_with("attn_q.bias"); }, bytes);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("'blk.0.attn_q.bias' is missing"), std::string::npos) << got.error().message;
  got = load_edited(
      *file, [](TensorView& t) { return !t.name.ends_with(".bias"); }, bytes);
  EXPECT_TRUE(got) << "a model without any is whole";
}

TEST(Binder, mapped_bytes_stand_in_the_ledger_by_format_while_the_model_lives) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  for (const char* stem : {"llama-dense", "llama-tied", "qwen2-dense"}) {
    const auto file = GgufFile::open(golden / "architectures" / (std::string(stem) + ".gguf"));
    ASSERT_TRUE(file);
    MemoryLedger ledger;
    {
      const auto got = load_model(*file, {.ledger = &ledger});
      ASSERT_TRUE(got) << got.error().message;
      uint64_t in_file = 0;
      for (const FormatCount& f : file->formats()) in_file += f.n_bytes;
      EXPECT_EQ(ledger.total_bytes(), in_file) << stem;
      for (const auto& line : ledger.lines()) {
        EXPECT_EQ(line.owner, MemoryOwner::weights_mapped);
        EXPECT_TRUE(line.detail == "f16" || line.detail == "f32") << line.detail;
      }
    }
    EXPECT_EQ(ledger.total_bytes(), 0u);
  }
}

TEST(Buglog, GGUF_21_files_without_output_weight_use_the_embedding) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  for (const char* stem : {"llama-dense", "qwen2-dense", "qwen3moe-moe"}) {
    const auto file = GgufFile::open(golden / "architectures" / (std::string(stem) + ".gguf"));
    ASSERT_TRUE(file);
    std::vector<std::byte> bytes;
    const auto got = load_edited(
        *file, [](TensorView& t) { return t.name != "output.weight"; }, bytes);
    ASSERT_TRUE(got) << stem << ": " << got.error().message;
    std::vector<int32_t> row(1, 0);
    std::vector<KvLayer> kv;
    for (const LayerState& l : (*got)->kv_layers())
      kv.push_back({.n_kv_head = l.n_kv_head, .k_dim = l.k_dim, .v_dim = l.v_dim});
    Program program;
    Encoder e(program, {.tokens = row, .seqs = {}, .out_rows = row, .kv = kv});
    (*got)->forward(e);
    const auto& last = std::get<verb::MatMul>(program.verbs.back().body);
    EXPECT_EQ(last.w->host.name, "token_embd.weight") << stem;
  }
}

}  // namespace
}  // namespace ridge::testing
