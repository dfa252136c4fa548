// Synthetic files have the shapes and sizes of the models that they are like, load, and compute finite numbers; the
// same seed gives the same bytes.
#include "bench/synth.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include "bench/rig.h"
#include "file/gguf.h"
#include "quant/formats.h"

namespace ridge::bench {
namespace {

namespace fs = std::filesystem;

// A file that is deleted with the object.
class Made {
 public:
  explicit Made(const SynthOptions& options) {
    static int counter = 0;
    path_ = fs::temp_directory_path() / fmt::format("ridge-synth-{}-{}.gguf", getpid(), counter++);
    auto done = write_synthetic(path_, options);
    EXPECT_TRUE(done) << done.error().message;
    if (done) report_ = *done;
  }
  ~Made() {
    std::error_code ec;
    fs::remove(path_, ec);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  std::string path() const { return path_.string(); }
  const SynthReport& report() const { return report_; }
  std::string bytes() const {
    std::ifstream f(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(f), {}};
  }

 private:
  fs::path path_;
  SynthReport report_;
};

SynthOptions tiny(std::string_view format) {
  return {.shape = *find_shape("tiny"), .target = quant::find_target(format), .seed = 1, .on_progress = {}};
}

// What is as wide and long as the model, cut to one layer and a small vocabulary, so that a test can afford it.
SynthOptions cut(std::string_view shape) {
  SynthOptions o{.shape = *find_shape(shape), .target = quant::find_target("Q4_K_M"), .seed = 1, .on_progress = {}};
  o.shape.n_layer = 1, o.shape.n_vocab = 512;
  if (o.shape.n_expert > 0) o.shape.n_expert = 16;
  return o;
}

TEST(Synth, every_target_makes_a_file_that_runs_and_stays_finite) {
  for (const quant::Target& t : quant::targets()) {
    const Made m(tiny(t.name));
    auto rig = Rig::open({.model_path = m.path(), .backend = "cpu", .isa = {}, .n_threads = 1});
    ASSERT_TRUE(rig) << t.name << ": " << rig.error().message;
    EXPECT_TRUE((*rig)->is_synthetic());
    EXPECT_NE((*rig)->loaded().info.note.find("synthetic weights, speed only"), std::string::npos);
    ASSERT_TRUE((*rig)->arrange({.n_ctx = 40, .type_k = "f16", .type_v = "f16"}));
    Meter meter;
    const int n = 20;
    const auto ran = (*rig)->feed({&n, 1}, meter);  // refuses a logit that is not a number
    EXPECT_TRUE(ran) << t.name << ": " << ran.error().message;
  }
}

TEST(Synth, wide_models_load_with_their_own_architecture) {
  for (const SynthShape& s : synth_shapes()) {
    if (s.n_embd > 2048 || s.name == "tiny") continue;  // the rest take long and differ in numbers only
    const Made m(cut(s.name));
    auto rig = Rig::open({.model_path = m.path(), .backend = "cpu", .isa = {}, .n_threads = 1});
    ASSERT_TRUE(rig) << s.name << ": " << rig.error().message;
    EXPECT_EQ((*rig)->loaded().info.architecture, s.arch);
    EXPECT_TRUE((*rig)->loaded().model->unused_tensors().empty()) << s.name;
    ASSERT_TRUE((*rig)->arrange({.n_ctx = 8, .type_k = "f16", .type_v = "f16"}));
    Meter meter;
    const int n = 2;
    EXPECT_TRUE((*rig)->feed({&n, 1}, meter)) << s.name;
  }
}

// Parameters as the models' cards count them, from the shapes alone.
TEST(Synth, shapes_have_the_parameters_of_their_models) {
  const std::map<std::string_view, double> published = {
      {"qwen2.5-0.5b", 0.494e9}, {"qwen2.5-1.5b", 1.544e9}, {"qwen2.5-7b", 7.616e9},    {"qwen3-4b", 4.022e9},
      {"llama-3.2-1b", 1.236e9}, {"llama-3.1-8b", 8.030e9}, {"qwen3-30b-a3b", 30.532e9}};
  for (const SynthShape& s : synth_shapes()) {
    if (!published.contains(s.name)) continue;
    const double embd = s.n_embd, q = 1.0 * s.n_head * s.head_dim, kv = 1.0 * s.n_head_kv * s.head_dim;
    const double ffn =
        s.n_expert > 0 ? 3.0 * embd * s.n_ff_expert * s.n_expert + embd * s.n_expert : 3.0 * embd * s.n_ff;
    const double layer =
        embd * (2 * q + 2 * kv) + ffn + 2 * embd + (s.qkv_bias ? q + 2 * kv : 0) + (s.qk_norm ? 2.0 * s.head_dim : 0);
    const double n = (s.tied ? 1 : 2) * embd * s.n_vocab + s.n_layer * layer + embd;
    EXPECT_NEAR(n / published.at(s.name), 1.0, 0.001) << s.name;
  }
}

TEST(Synth, same_seed_gives_the_same_bytes_and_another_seed_others) {
  const Made a(tiny("Q8_0")), b(tiny("Q8_0"));
  EXPECT_EQ(a.bytes(), b.bytes());
  SynthOptions other = tiny("Q8_0");
  other.seed = 2;
  EXPECT_NE(a.bytes(), Made(other).bytes());
}

TEST(Synth, weights_have_the_spread_that_keeps_a_product_in_size) {
  const Made m(tiny("Q8_0"));
  const auto file = GgufFile::open(m.path());
  ASSERT_TRUE(file);
  EXPECT_EQ(m.report().n_tensors, file->tensors().size());
  for (const TensorView& t : file->tensors()) {
    std::vector<float> row(static_cast<size_t>(t.ne[0]));
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < t.n_rows(); ++r) {
      ASSERT_TRUE(quant::decode_row(t.dtype, t.row(r), row.data(), t.ne[0]));
      for (const float x : row) sum += x, squares += static_cast<double>(x) * x;
    }
    const auto n = static_cast<double>(t.n_elems());
    if (t.n_dims == 1 && !t.name.ends_with(".bias")) {
      EXPECT_EQ(sum, n) << t.name << ": a norm is one";
    } else if (t.n_dims == 2) {
      EXPECT_NEAR(std::sqrt(squares / n) * std::sqrt(static_cast<double>(t.ne[0])), 1.0, 0.02) << t.name;
    }
  }
}

TEST(Synth, unknown_shapes_and_places_that_cannot_be_written_are_errors) {
  EXPECT_EQ(find_shape("gpt-9").error().code, ErrorCode::invalid_argument);
  EXPECT_NE(find_shape("gpt-9").error().message.find("qwen2.5-0.5b"), std::string::npos);
  EXPECT_EQ(write_synthetic("/nowhere/at/all.gguf", tiny("Q8_0")).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace ridge::bench
