// A quantised file against what it was made from: same metadata and shapes, blocks as quant/ makes them, whatever the
// number of threads; and what is refused leaves no file.
#include "quality/quantise.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "file/gguf_writer.h"
#include "quant/formats.h"

namespace ridge::quality {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("ridge-quantise-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  size_t count() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto& e : fs::directory_iterator(path_)) ++n;
    return n;
  }

 private:
  fs::path path_;
};

// Two layers with experts' worth of shapes: rows of 256 and of 9000 (more than one unit), a norm, three dimensions.
struct Source {
  std::deque<std::vector<float>> data;
  GgufWriter writer;

  explicit Source(float poison = 0) {
    writer.add("general.architecture", std::string_view("llama"));
    writer.add("llama.block_count", uint32_t{2});
    writer.add("general.file_type", uint32_t{0});
    add("token_embd.weight", {256, 50, 1, 1}, 2);
    add("output_norm.weight", {256, 1, 1, 1}, 1);
    add("blk.0.attn_v.weight", {256, 64, 1, 1}, 2);
    add("blk.0.ffn_down.weight", {9216, 40, 1, 1}, 2);
    add("blk.1.attn_v.weight", {256, 64, 1, 1}, 2);
    add("blk.1.ffn_up_exps.weight", {512, 8, 3, 1}, 3);
    if (poison != 0) data.back()[5000] = poison;
  }
  void add(std::string_view name, std::array<int64_t, 4> ne, uint32_t n_dims) {
    std::vector<float> values(static_cast<size_t>(ne[0] * ne[1] * ne[2] * ne[3]));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(random_uniform(data.size(), 1, i) - random_uniform(data.size(), 2, i)) * 0.1f;
    data.push_back(std::move(values));
    writer.add_tensor({.name = name,
                       .dtype = DType::f32,
                       .n_dims = n_dims,
                       .ne = ne,
                       .data = reinterpret_cast<const std::byte*>(data.back().data())});
  }
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<QuantiseReport> quantise(const std::string& in, const std::string& out, QuantiseOptions options) {
  RIDGE_TRY(const GgufFile file, GgufFile::open(in));
  RIDGE_TRY(const QuantisePlan plan, plan_quantise(file, options));
  return quantise_file(file, plan, out, options);
}

QuantiseOptions to(std::string_view name, int n_threads = 1) {
  QuantiseOptions o;
  o.target = quant::find_target(name);
  o.n_threads = n_threads;
  return o;
}

TEST(Quantise, every_type_gives_the_blocks_of_its_encoder_whatever_the_threads) {
  const Folder folder;
  const Source source;
  ASSERT_TRUE(source.writer.write(folder / "in.gguf"));
  const auto in = GgufFile::open(folder / "in.gguf");
  ASSERT_TRUE(in);
  for (const quant::Target& target : quant::targets()) {
    SCOPED_TRACE(target.name);
    ASSERT_TRUE(quantise(folder / "in.gguf", folder / "one.gguf", to(target.name, 1)));
    ASSERT_TRUE(quantise(folder / "in.gguf", folder / "three.gguf", to(target.name, 3)));
    EXPECT_TRUE(bytes_of(folder / "one.gguf") == bytes_of(folder / "three.gguf"));
    const auto out = GgufFile::open(folder / "one.gguf");
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(*out->get_u32("general.file_type"), target.file_type);
    EXPECT_EQ(*out->get_u32("general.quantization_version"), 2u);
    ASSERT_EQ(out->tensors().size(), in->tensors().size());
    for (size_t i = 0; i < in->tensors().size(); ++i) {
      const TensorView &a = in->tensors()[i], &b = out->tensors()[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.ne, b.ne);
      std::vector<std::byte> row(row_bytes(b.dtype, b.ne[0]));
      const int64_t last = a.n_rows() - 1;
      ASSERT_TRUE(
          quant::quantise_row(b.dtype, reinterpret_cast<const float*>(a.row(last)), nullptr, row.data(), a.ne[0]));
      EXPECT_EQ(std::memcmp(row.data(), b.row(last), row.size()), 0) << b.name;
    }
  }
}

TEST(Quantise, the_reported_error_is_the_files) {
  const Folder folder;
  const Source source;
  ASSERT_TRUE(source.writer.write(folder / "in.gguf"));
  const auto report = quantise(folder / "in.gguf", folder / "out.gguf", to("Q8_0", 2));
  ASSERT_TRUE(report);
  const auto in = GgufFile::open(folder / "in.gguf"), out = GgufFile::open(folder / "out.gguf");
  double error = 0;
  int64_t n = 0;
  for (size_t i = 0; i < in->tensors().size(); ++i) {
    const TensorView &a = in->tensors()[i], &b = out->tensors()[i];
    if (b.dtype != DType::q8_0) continue;
    std::vector<float> row(static_cast<size_t>(a.ne[0]));
    for (int64_t r = 0; r < a.n_rows(); ++r) {
      ASSERT_TRUE(quant::decode_row(b.dtype, b.row(r), row.data(), a.ne[0]));
      const auto* x = reinterpret_cast<const float*>(a.row(r));
      for (size_t k = 0; k < row.size(); ++k) error += (double{x[k]} - row[k]) * (double{x[k]} - row[k]);
      n += a.ne[0];
    }
  }
  ASSERT_EQ(report->losses.size(), 2u);
  EXPECT_EQ(report->losses[1].type, DType::q8_0);
  EXPECT_EQ(report->losses[1].n_weights, n);
  EXPECT_NEAR(report->losses[1].rmse(), std::sqrt(error / static_cast<double>(n)), 1e-9);
}

TEST(Quantise, a_weight_that_is_no_number_stops_the_job_and_leaves_no_file) {
  for (const float poison : {NAN, INFINITY}) {
    const Folder folder;
    const Source source(poison);
    ASSERT_TRUE(source.writer.write(folder / "in.gguf"));
    for (const quant::Target& target : quant::targets()) {
      if (target.base == DType::f32) continue;  // nothing to do
      const auto report = quantise(folder / "in.gguf", folder / "out.gguf", to(target.name, 2));
      ASSERT_FALSE(report) << target.name;
      EXPECT_EQ(report.error().code, ErrorCode::bad_file);
      EXPECT_NE(report.error().message.find("blk.1.ffn_up_exps.weight"), std::string::npos) << report.error().message;
      EXPECT_EQ(folder.count(), 1u);
    }
  }
}

TEST(Quantise, a_second_loss_is_refused_unless_asked_for) {
  const Folder folder;
  const Source source;
  ASSERT_TRUE(source.writer.write(folder / "in.gguf"));
  ASSERT_TRUE(quantise(folder / "in.gguf", folder / "q8.gguf", to("Q8_0")));
  const auto again = quantise(folder / "q8.gguf", folder / "q4.gguf", to("Q4_K_M"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::unsupported);
  EXPECT_NE(again.error().message.find("--allow-requantize"), std::string::npos);
  QuantiseOptions allowed = to("Q4_K_M");
  allowed.allow_requantize = true;
  EXPECT_TRUE(quantise(folder / "q8.gguf", folder / "q4.gguf", allowed));
}

TEST(Quantise, a_split_input_gives_a_split_output_or_one_file) {
  const Folder folder;
  const std::vector<float> values(256 * 4, 0.5f);
  for (uint16_t i = 0; i < 2; ++i) {
    GgufWriter w;
    if (i == 0) w.add("general.architecture", std::string_view("llama"));
    w.add("split.no", i);
    w.add("split.count", uint16_t{2});
    w.add("split.tensors.count", int32_t{2});
    w.add_tensor({.name = i == 0 ? "blk.0.attn_q.weight" : "blk.0.attn_k.weight",
                  .dtype = DType::f32,
                  .n_dims = 2,
                  .ne = {256, 4, 1, 1},
                  .data = reinterpret_cast<const std::byte*>(values.data())});
    ASSERT_TRUE(w.write(folder / ("in-0000" + std::to_string(i + 1) + "-of-00002.gguf")));
  }
  QuantiseOptions options = to("Q4_K_M");
  const auto one = quantise(folder / "in-00001-of-00002.gguf", folder / "one.gguf", options);
  ASSERT_TRUE(one) << one.error().message;
  options.keep_split = true;
  const auto set = quantise(folder / "in-00001-of-00002.gguf", folder / "set.gguf", options);
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->paths.size(), 2u);
  const auto whole = GgufFile::open(folder / "one.gguf"), parts = GgufFile::open(folder / "set-00002-of-00002.gguf");
  ASSERT_TRUE(whole);
  ASSERT_TRUE(parts) << parts.error().message;
  EXPECT_FALSE(whole->has("split.count"));
  EXPECT_EQ(parts->shards().size(), 2u);
  for (const TensorView& t : whole->tensors()) {
    const TensorView* other = parts->find_tensor(t.name);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(std::memcmp(t.data, other->data, t.n_bytes()), 0);
  }
}

TEST(Quantise, stopping_leaves_no_file) {
  const Folder folder;
  const Source source;
  ASSERT_TRUE(source.writer.write(folder / "in.gguf"));
  QuantiseOptions options = to("Q4_0");
  options.on_progress = [](double share, std::string_view) { return share < 0.5; };
  const auto report = quantise(folder / "in.gguf", folder / "out.gguf", options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Quantise, importance_lowers_the_error_where_it_is_high) {
  const Folder folder;
  const Source source;
  ASSERT_TRUE(source.writer.write(folder / "in.gguf"));
  Imatrix m;
  ImatrixEntry e{.n_cols = 9216, .sums = std::vector<float>(9216, 1.0f), .counts = {1}};
  for (size_t i = 0; i < e.sums.size(); i += 8) e.sums[i] = 1000;
  m.entries["blk.0.ffn_down.weight"] = e;
  ASSERT_TRUE(m.save(folder / "m.gguf"));
  const auto loaded = Imatrix::load(folder / "m.gguf");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto error = [&](const Imatrix* imatrix) {
    QuantiseOptions options = to("Q4_K_S");
    options.imatrix = imatrix;
    options.imatrix_path = "m.gguf";
    const auto report = quantise(folder / "in.gguf", folder / "out.gguf", options);
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    const auto in = GgufFile::open(folder / "in.gguf"), out = GgufFile::open(folder / "out.gguf");
    if (imatrix != nullptr) {
      EXPECT_EQ(*out->get_string("quantize.imatrix.file"), "m.gguf");
      EXPECT_EQ(*out->get_u32("quantize.imatrix.entries_count"), 1u);
    }
    const TensorView &a = *in->find_tensor("blk.0.ffn_down.weight"), &b = *out->find_tensor("blk.0.ffn_down.weight");
    std::vector<float> row(9216);
    double sum = 0;
    for (int64_t r = 0; r < a.n_rows(); ++r) {
      EXPECT_TRUE(quant::decode_row(b.dtype, b.row(r), row.data(), a.ne[0]));
      const auto* x = reinterpret_cast<const float*>(a.row(r));
      for (size_t k = 0; k < row.size(); k += 8) sum += (double{x[k]} - row[k]) * (double{x[k]} - row[k]);
    }
    return std::sqrt(sum);
  };
  EXPECT_LT(error(&*loaded), 0.8 * error(nullptr));
}

TEST(Imatrix, is_read_back_and_another_models_is_refused) {
  const Folder folder;
  Imatrix m{.entries = {}, .datasets = {"a.txt"}, .n_chunks = 3, .chunk_tokens = 512};
  m.entries["x.weight"] = {.n_cols = 2, .sums = {1, 3, 0, 0}, .counts = {4, 0}};
  ASSERT_TRUE(m.save(folder / "m.gguf"));
  const auto back = Imatrix::load(folder / "m.gguf");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->n_chunks, 3u);
  EXPECT_EQ(back->datasets, m.datasets);
  EXPECT_EQ(*back->importance("x.weight", 2, 2), (std::vector<float>{0.5f, 1.5f, 1, 1}));
  EXPECT_TRUE(back->importance("y.weight", 2, 2)->empty());
  EXPECT_EQ(back->importance("x.weight", 4, 2).error().code, ErrorCode::invalid_argument);
  std::ofstream(folder / "bad") << "not a matrix at all";
  EXPECT_EQ(Imatrix::load(folder / "bad").error().code, ErrorCode::bad_file);
  EXPECT_EQ(Imatrix::load(folder / "none").error().code, ErrorCode::not_found);
}

TEST(Imatrix, the_older_form_is_read) {
  const Folder folder;
  std::string dat;
  const auto number = [&dat](auto v) { dat.append(reinterpret_cast<const char*>(&v), sizeof(v)); };
  number(int32_t{1}), number(int32_t{8}), dat += "x.weight", number(int32_t{2}), number(int32_t{2});
  number(2.0f), number(6.0f), number(int32_t{7}), number(int32_t{5}), dat += "a.txt";
  std::ofstream(folder / "m.dat", std::ios::binary) << dat;
  const auto m = Imatrix::load(folder / "m.dat");
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->n_chunks, 7u);
  EXPECT_EQ(*m->importance("x.weight", 2, 1), (std::vector<float>{0.5f, 1.5f}));
  for (size_t n = 0; n + 20 < dat.size(); ++n) {
    std::ofstream(folder / "cut.dat", std::ios::binary) << dat.substr(0, n);
    EXPECT_FALSE(Imatrix::load(folder / "cut.dat")) << n;
  }
}

}  // namespace
}  // namespace ridge::quality
