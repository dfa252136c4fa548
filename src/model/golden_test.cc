// End truth: logits of tiny models against the reference implementation, on every device and instruction set of this
// machine. Golden data: the README beside it says how it was made.
#include <fmt/format.h>

#include "model/model_test_util.h"

namespace ridge::testing {
namespace {

// The bounds that the program promises, for F32 caches.
constexpr double kReferenceNmse = 1e-9, kCpuNmse = 1e-5;
// Files whose golden logits are themselves less exact. Gemma 2: the implementation that made them looks GELU up in a
// table of halves, so each MLP value there carries a rounding of 2^-11. With that table imitated the distance here
// falls from 9.5e-8 to 2.9e-9, and what is left is values next to a rounding boundary: noise of 1e-7 in the products
// moves it between 1.5e-9 and 3.1e-9. The true function is computed here, and the bound is twice the distance.
constexpr double kTabulatedGeluNmse = 2e-7;

struct Case {
  DeviceCase device;
  std::string folder, stem;
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.device.label() << " " << c.folder << "/" << c.stem; }
};

std::vector<Case> cases(const std::string& folder) {
  std::vector<Case> out;
  const auto golden = golden_dir();
  if (!golden) return out;
  for (const DeviceCase& device : device_cases()) {
    for (const std::string& stem : golden_stems(*golden / folder)) {
      if (!is_for_later(stem)) out.push_back({device, folder, stem});
    }
  }
  return out;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.device.label() + "_" + info.param.stem;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

// How far llama.cpp's own kernels, which quantise activations, are from the decoded weights.
std::map<std::string, double> peer_nmse(const std::filesystem::path& golden) {
  std::map<std::string, double> peers;
  std::ifstream file(golden / "quantised_models" / "peer_nmse.tsv");
  std::string stem, value;
  std::getline(file, stem);
  while (std::getline(file, stem, '\t') && std::getline(file, value)) peers[stem] = std::stod(value);
  return peers;
}

class Golden : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto golden = golden_dir();
    if (!golden) GTEST_SKIP() << "no reference data: set RIDGE_GOLDEN to the folder that holds it";
    const Case& c = GetParam();
    const auto stem = *golden / c.folder / c.stem;
    want_ = read_golden(stem);
    auto run = ModelRun::open(stem.string() + ".gguf", c.device.device, c.device.isa, {DType::f32, DType::f32}, 128);
    ASSERT_TRUE(run) << run.error().message;
    run_ = std::move(*run);
    if (c.device.device == "reference") {
      bound_ = c.stem.starts_with("gemma2") ? kTabulatedGeluNmse : kReferenceNmse;
    } else if (c.folder == "architectures") {
      bound_ = kCpuNmse;
    } else {
      const auto peers = peer_nmse(*golden);
      double worst = 0;
      for (const auto& [name, value] : peers) worst = std::max(worst, value);
      bound_ = 1.05 * (peers.contains(c.stem) ? peers.at(c.stem) : worst);
    }
  }

  // The prompt in pieces that end at these positions, then the rest.
  std::vector<float> in_pieces(const std::vector<int32_t>& ends) {
    run_->restart();
    std::vector<float> logits;
    int32_t at = 0;
    std::vector<int32_t> all_ends = ends;
    all_ends.push_back(static_cast<int32_t>(want_.tokens.size()));
    for (int32_t end : all_ends) {
      const auto got =
          run_->append(std::span(want_.tokens).subspan(static_cast<size_t>(at), static_cast<size_t>(end - at)));
      EXPECT_TRUE(got) << got.error().message;
      if (!got) return logits;
      logits.insert(logits.end(), got->begin(), got->end());
      at = end;
    }
    return logits;
  }

  // Greedy argmax, ties to the lower id, one token at a time.
  std::vector<int32_t> continue_greedily(std::vector<float> logits) {
    std::vector<int32_t> out;
    const auto n_vocab = static_cast<std::ptrdiff_t>(want_.n_vocab);
    while (out.size() < want_.greedy.size()) {
      const auto row = logits.end() - n_vocab;
      out.push_back(static_cast<int32_t>(std::max_element(row, logits.end()) - row));
      const auto got = run_->append(std::span(&out.back(), 1));
      EXPECT_TRUE(got) << got.error().message;
      if (!got) break;
      logits = *got;
    }
    return out;
  }

  GoldenRun want_;
  std::unique_ptr<ModelRun> run_;
  double bound_ = 0;
};

TEST_P(Golden, logits_equal_the_reference_however_the_prompt_is_split) {
  const auto whole = in_pieces({});
  const double error = nmse(whole, want_.logits);
  RecordProperty("nmse", fmt::format("{:.3g}", error));
  fmt::print("  {:40} nmse {:.3g}\n", fmt::format("{} {}", GetParam().device.label(), GetParam().stem), error);
  EXPECT_LE(error, bound_);

  if (fast_run()) {
    EXPECT_LE(nmse(in_pieces({33}), want_.logits), bound_);
    return;
  }
  for (const std::vector<int32_t>& ends :
       {std::vector<int32_t>{31}, {32}, {33}, {63}, {64}, {65}, {95}, {1, 32, 33, 64}, {31, 63}}) {
    EXPECT_LE(nmse(in_pieces(ends), want_.logits), bound_) << "first piece of " << ends[0];
  }
  std::vector<int32_t> singly;
  for (int32_t i = 1; i < static_cast<int32_t>(want_.tokens.size()); ++i) singly.push_back(i);
  EXPECT_LE(nmse(in_pieces(singly), want_.logits), bound_) << "one token at a time";
}

TEST_P(Golden, greedy_continuation_equals_the_reference) {
  if (GetParam().folder != "architectures" && GetParam().device.device != "reference") {
    GTEST_SKIP() << "with quantised weights only the reference device is exact enough for every tie";
  }
  EXPECT_EQ(continue_greedily(in_pieces({})), want_.greedy);
}

TEST_P(Golden, only_wanted_rows_go_through_the_head) {
  const auto whole = in_pieces({});
  run_->restart();
  const std::vector<int32_t> rows = {0, 40, 95};
  const auto some = run_->append(want_.tokens, rows, false);
  ASSERT_TRUE(some);
  std::vector<float> wanted;
  for (int32_t r : rows)
    wanted.insert(wanted.end(), whole.begin() + r * want_.n_vocab, whole.begin() + (r + 1) * want_.n_vocab);
  EXPECT_LE(nmse(*some, wanted), bound_);
  for (const Verb& v : run_->program().verbs) {
    if (v.label == "output") {
      EXPECT_EQ(std::get<verb::MatMul>(v.body).x.rows, 3);
    }
  }
  run_->restart();
  const auto none = run_->append(want_.tokens, {}, false);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  for (const Verb& v : run_->program().verbs)
    EXPECT_NE(v.label, "output") << "no row is wanted, so no head is computed";
}

INSTANTIATE_TEST_SUITE_P(architectures, Golden, ::testing::ValuesIn(cases("architectures")), case_name);
INSTANTIATE_TEST_SUITE_P(quantised, Golden, ::testing::ValuesIn(cases("quantised_models")), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

// ---- caches and arena
// -----------------------------------------------------------------------------------------------------

TEST(Model, arena_is_what_was_predicted) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  for (const std::string& stem : golden_stems(golden / "architectures")) {
    if (is_for_later(stem)) continue;
    auto run = ModelRun::open(golden / "architectures" / (stem + ".gguf"), "reference", "", {}, 64);
    ASSERT_TRUE(run) << run.error().message;
    const std::vector<int32_t> tokens = {1, 2, 3, 4, 5}, rows = {1, 4};
    for (bool all : {true, false}) {
      (*run)->restart();
      ASSERT_TRUE((*run)->append(tokens, all ? std::span<const int32_t>() : rows, all));
      EXPECT_EQ((*run)->program().arena_floats, (*run)->model().arena_floats(5, all ? 5 : 2)) << stem;
    }
  }
}

TEST(Model, a_step_like_the_last_one_allocates_nothing_for_its_program) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  auto run = ModelRun::open(golden / "architectures" / "qwen2moe-moe.gguf", "reference", "", {}, 64);
  ASSERT_TRUE(run);
  ASSERT_TRUE((*run)->append(std::vector<int32_t>{1, 2}));
  const auto* verbs = (*run)->program().verbs.data();
  ASSERT_TRUE((*run)->append(std::vector<int32_t>{3}));
  EXPECT_EQ((*run)->program().verbs.data(), verbs);
}

// Rounding of the cache only: 2^-11 for halves, 2^-8 for q8_0, 2^-4 for q4_0 of a block's largest value, squared, with
// room for what layers make of it. Dense models: a router turns the smallest difference into another expert.
TEST(Buglog, KV_12_quantised_caches_stay_near_exact_ones_and_finite) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  struct Row {
    KvTypes types;
    double bound;
  };
  const Row rows[] = {{{DType::f16, DType::f16}, 1e-6},
                      {{DType::bf16, DType::bf16}, 1e-4},
                      {{DType::q8_0, DType::q8_0}, 1e-3},
                      {{DType::q8_0, DType::q4_0}, 5e-2},
                      {{DType::f32, DType::q4_0}, 5e-2}};
  for (const DeviceCase& device : device_cases()) {
    for (const char* stem : {"llama-dense", "gemma2-dense", "glm4-dense"}) {
      const auto path = golden / "architectures" / stem;
      const GoldenRun want = read_golden(path);
      for (const Row& row : rows) {
        auto run = ModelRun::open(path.string() + ".gguf", device.device, device.isa, row.types, 128);
        ASSERT_TRUE(run) << run.error().message;
        const auto got = (*run)->append(want.tokens);
        ASSERT_TRUE(got) << got.error().message;
        const double error = nmse(*got, want.logits);
        EXPECT_LE(error, row.bound) << device.label() << " " << stem << " K " << info(row.types.k).name << " V "
                                    << info(row.types.v).name;
      }
    }
  }
}

TEST(Model, stories_model_continues_as_the_reference_does_with_f16_and_f32_caches) {
  const auto path = shared_file("models/stories260K.gguf"), json_path = shared_file("models/stories260K.json");
  if (!path || !json_path) GTEST_SKIP() << "no models/stories260K.gguf beside the golden data";
  const auto json = nlohmann::json::parse(std::ifstream(*json_path));
  for (const DeviceCase& device : device_cases()) {
    for (DType type : {DType::f32, DType::f16}) {
      auto run = ModelRun::open(*path, device.device, device.isa, {type, type}, 512);
      ASSERT_TRUE(run) << run.error().message;
      for (const auto& c : json.at("cases")) {
        const auto want = c.at("greedy_ids").get<std::vector<int32_t>>();
        std::vector<int32_t> next = c.at("prompt_ids").get<std::vector<int32_t>>(), ids;
        (*run)->restart();
        while (ids.size() < want.size()) {
          const std::vector<int32_t> last = {static_cast<int32_t>(next.size()) - 1};
          const auto got = (*run)->append(next, last, false);
          ASSERT_TRUE(got) << got.error().message;
          next = {static_cast<int32_t>(std::max_element(got->begin(), got->end()) - got->begin())};
          ids.push_back(next[0]);
        }
        EXPECT_EQ(ids, want) << device.label() << " " << info(type).name << " " << c.at("prompt");
      }
    }
  }
}

// ---- rows of the bug log whose evidence is one of these files
// ---------------------------------------------------------------------

double nmse_of_rows(const std::string& stem, int32_t first, int32_t n) {
  const auto path = *golden_dir() / "architectures" / stem;
  const GoldenRun want = read_golden(path);
  auto run = ModelRun::open(path.string() + ".gguf", "reference", "", {DType::f32, DType::f32}, 128);
  EXPECT_TRUE(run) << run.error().message;
  if (!run) return 1.0;
  const auto got = (*run)->append(want.tokens);
  EXPECT_TRUE(got);
  if (!got) return 1.0;
  const auto part = [&](const std::vector<float>& all) {
    return std::vector<float>(all.begin() + first * want.n_vocab, all.begin() + (first + n) * want.n_vocab);
  };
  return nmse(part(*got), part(want.logits));
}

TEST(Buglog, KV_20_window_layers_mask_what_lies_before_the_window) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  EXPECT_LT(nmse_of_rows("gemma2-dense", 32, 64), 1e-6);  // its window is 32
  EXPECT_LT(nmse_of_rows("gpt-oss-moe", 32, 64), 1e-6);
}

TEST(Buglog, MOD_03_both_rotary_layouts_match_at_every_position) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  for (const char* stem : {"llama-dense", "qwen2-dense"}) {
    for (int32_t position : {0, 1, 64}) EXPECT_LT(nmse_of_rows(stem, position, 1), 1e-6) << stem << " at " << position;
  }
}

TEST(Buglog, MOD_04_linear_scaling_only_where_the_file_says_so) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  EXPECT_LT(nmse_of_rows("llama-dense", 0, 96), 1e-6);
  EXPECT_LT(nmse_of_rows("llama-linear", 0, 96), 1e-6);
}

TEST(Buglog, MOD_08_expert_outputs_are_weighted_by_their_gate) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  for (const char* stem : {"llama-moe", "qwen2moe-moe", "qwen3moe-moe", "gpt-oss-moe"}) {
    EXPECT_LT(nmse_of_rows(stem, 0, 96), 1e-6) << stem;
  }
}

}  // namespace
}  // namespace ridge::testing
