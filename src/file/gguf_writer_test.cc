// What is written is what was meant: by comparison with bytes built by hand, and by writing back every reference file.
#include "file/gguf_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <limits>

#include "file/gguf_test_bytes.h"
#include "golden_dir.h"

namespace ridge {
namespace {

using namespace ridge::testing;
namespace fs = std::filesystem;

std::string text_of(std::span<const std::byte> b) {
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TemporaryDir {
 public:
  TemporaryDir() : path_(fs::temp_directory_path() / fmt::format("ridge_writer_{}", getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TemporaryDir() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  size_t n_files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

TEST(GgufWriter, writes_every_type_as_the_format_says) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int32_t> ints = {1, -2, 3};
  const std::vector<float> floats = {0.5f, nan};
  const std::array<bool, 2> bools = {true, false};
  const auto weights = to_bytes(data(34));
  GgufWriter w;
  w.add("u8", uint8_t{1});
  w.add("i8", int8_t{-1});
  w.add("u16", uint16_t{2});
  w.add("i16", int16_t{-2});
  w.add("u32", uint32_t{3});
  w.add("i32", int32_t{-3});
  w.add("f32", 1.5f);
  w.add("bool", true);
  w.add("string", std::string_view("text"));
  w.add("u64", uint64_t{4});
  w.add("i64", int64_t{-4});
  w.add("f64", 2.5);
  w.add("strings", StringArray{"a", "", "bc"});
  w.add("ints", PackedArray<int32_t>::of(ints));
  w.add("floats", PackedArray<float>::of(floats));
  w.add("bools", PackedArray<bool>::of(bools));
  w.add("none", StringArray{});
  w.add_tensor({.name = "q", .dtype = DType::q8_0, .n_dims = 2, .ne = {32, 1, 1, 1}, .data = weights.data()});
  w.add_tensor({.name = "f", .dtype = DType::f16, .n_dims = 1, .ne = {3, 1, 1, 1}, .data = weights.data()});
  const std::string expected =
      padded(header(2, 17) + kv_raw("u8", 0, le(uint8_t{1})) + kv_raw("i8", 1, le(int8_t{-1})) + kv_u16("u16", 2) +
             kv_raw("i16", 3, le(int16_t{-2})) + kv_u32("u32", 3) + kv_i32("i32", -3) + kv_raw("f32", 6, le(1.5f)) +
             kv_raw("bool", 7, "\1") + kv_str("string", "text") + kv_raw("u64", 10, le(uint64_t{4})) +
             kv_raw("i64", 11, le(int64_t{-4})) + kv_raw("f64", 12, le(2.5)) +
             kv_arr("strings", 8, 3, str("a") + str("") + str("bc")) +
             kv_arr("ints", 5, 3, le(int32_t{1}) + le(int32_t{-2}) + le(int32_t{3})) +
             kv_arr("floats", 6, 2, le(0.5f) + le(nan)) + kv_arr("bools", 7, 2, std::string_view("\1\0", 2)) +
             kv_arr("none", 8, 0, "") + tensor("q", {32, 1}, 8) + tensor("f", {3}, 1, 64)) +
      padded(data(34)) + padded(data(6));
  const auto bytes = w.serialise();
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  EXPECT_EQ(text_of(*bytes), expected);
  const auto file = GgufFile::parse(*bytes);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->get_array<bool>("bools").value(), (std::vector<bool>{true, false}));
  EXPECT_TRUE(std::isnan(file->get_array<float>("floats").value()[1]));
  EXPECT_EQ(text_of(GgufWriter::from(*file).serialise().value()), expected);
}

TEST(GgufWriter, gives_back_what_was_read) {
  const std::vector<std::pair<std::string_view, std::string>> cases = {
      {"nothing, unpadded", header(0, 0)},
      {"nothing, padded", padded(header(0, 0))},
      {"model", tiny_model()},
      {"version 2", padded(header(1, 1, 2) + kv_u32("a", 1) + tensor("t", {8})) + data(32)},
      {"no padding at the end", padded(header(1, 0) + tensor("t", {3})) + data(12)},
      {"padding at the end", padded(header(1, 0) + tensor("t", {3})) + padded(data(12))},
      {"alignment 8",
       padded(header(2, 1) + kv_u32("general.alignment", 8) + tensor("t", {3}) + tensor("u", {1}, 0, 16), 8) +
           padded(data(12), 8) + padded(data(4), 8)},
      {"alignment 256", padded(header(1, 1) + kv_u32("general.alignment", 256) + tensor("t", {3}), 256) + data(12)},
  };
  for (const auto& [name, text] : cases) {
    const auto bytes = to_bytes(text);
    const auto file = GgufFile::parse(bytes);
    ASSERT_TRUE(file.has_value()) << name << ": " << file.error().message;
    const auto again = GgufWriter::from(*file).serialise();
    ASSERT_TRUE(again.has_value()) << name << ": " << again.error().message;
    EXPECT_EQ(text_of(*again), text) << name;
  }
}

TEST(GgufWriter, gives_back_every_reference_file) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  std::vector<fs::path> paths;
  for (const char* folder : {"tokenizers", "architectures", "quantised_models", "../models"}) {
    if (!fs::is_directory(golden / folder)) continue;
    for (const auto& entry : fs::directory_iterator(golden / folder)) {
      if (entry.path().extension() == ".gguf") paths.push_back(entry.path());
    }
  }
  ASSERT_GT(paths.size(), 30u);
  for (const fs::path& path : paths) {
    const auto file = GgufFile::open(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const auto again = GgufWriter::from(*file).serialise();
    ASSERT_TRUE(again.has_value()) << path << ": " << again.error().message;
    const auto was = file->shards()[0].bytes;
    ASSERT_EQ(again->size(), was.size()) << path;
    EXPECT_EQ(std::memcmp(again->data(), was.data(), was.size()), 0) << path;
  }
  RecordProperty("files", std::to_string(paths.size()));
}

TEST(GgufWriter, refuses_what_the_reader_would_refuse) {
  const auto weights = to_bytes(data(64));
  const TensorView good = {.name = "t", .dtype = DType::f32, .n_dims = 1, .ne = {4, 1, 1, 1}, .data = weights.data()};
  const auto with_key = [](std::string_view key, MetaValue v) {
    GgufWriter w;
    w.add(key, std::move(v));
    return w;
  };
  const auto with_tensor = [](TensorView t) {
    GgufWriter w;
    w.add_tensor(t);
    return w;
  };
  const std::string long_key(65536, 'k'), long_name(65, 'n');
  auto named = good, flat = good, five = good, zero = good, negative = good, huge = good, blocks = good;
  named.name = long_name;
  flat.n_dims = 0;
  five.n_dims = 5;
  zero.ne[0] = 0;
  negative.ne[0] = -4;
  huge.ne[0] = int64_t{1} << 62;
  blocks.dtype = DType::q4_0;
  std::vector<GgufWriter> bad = {with_key("", uint8_t{1}),
                                 with_key(long_key, uint8_t{1}),
                                 with_key("general.alignment", uint32_t{3}),
                                 with_key("general.alignment", int32_t{32}),
                                 with_tensor(named),
                                 with_tensor(flat),
                                 with_tensor(five),
                                 with_tensor(zero),
                                 with_tensor(negative),
                                 with_tensor(huge),
                                 with_tensor(blocks),
                                 GgufWriter(1),
                                 GgufWriter(4)};
  GgufWriter twice_key = with_key("a", uint8_t{1}), twice_name = with_tensor(good), misaligned = with_tensor(good);
  twice_key.add("a", uint8_t{2});
  twice_name.add_tensor(good);
  misaligned.add("general.alignment", uint32_t{2});
  bad.push_back(twice_key);
  bad.push_back(twice_name);
  bad.push_back(misaligned);
  for (size_t i = 0; i < bad.size(); ++i) {
    const auto r = bad[i].serialise();
    ASSERT_FALSE(r.has_value()) << i;
    EXPECT_FALSE(r.error().message.empty());
  }
}

TEST(GgufWriter, replaces_a_file_whole_and_leaves_nothing_else_behind) {
  TemporaryDir dir;
  const fs::path path = dir.path() / "m.gguf";
  std::ofstream(path) << "old";
  const auto bytes = to_bytes(tiny_model());
  const auto file = GgufFile::parse(bytes);
  ASSERT_TRUE(file.has_value());
  const auto ok = GgufWriter::from(*file).write(path);
  ASSERT_TRUE(ok.has_value()) << ok.error().message;
  EXPECT_EQ(slurp(path), tiny_model());
  EXPECT_EQ(dir.n_files(), 1u);
}

TEST(GgufWriter, may_write_over_the_file_it_reads_from) {
  TemporaryDir dir;
  const fs::path path = dir.path() / "m.gguf";
  std::ofstream(path, std::ios::binary) << tiny_model();
  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(GgufWriter::from(*file).write(path).has_value());
  EXPECT_EQ(slurp(path), tiny_model());
}

TEST(GgufWriter, leaves_the_old_file_where_writing_fails) {
  TemporaryDir dir;
  const fs::path path = dir.path() / "m.gguf";
  std::ofstream(path) << "old";
  GgufWriter bad;
  bad.add("", uint8_t{1});
  EXPECT_FALSE(bad.write(path).has_value());
  EXPECT_EQ(slurp(path), "old");
  EXPECT_EQ(dir.n_files(), 1u);

  // A limit on file sizes stands in for a full disk: write() fails half way.
  const auto weights = to_bytes(data(1 << 20));
  GgufWriter big;
  big.add_tensor({.name = "t", .dtype = DType::f32, .n_dims = 1, .ne = {1 << 18, 1, 1, 1}, .data = weights.data()});
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 100'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto r = big.write(path);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(to_string(r.error().code), "io");
  EXPECT_NE(r.error().message.find("m.gguf"), std::string::npos) << r.error().message;
  EXPECT_EQ(slurp(path), "old");
  EXPECT_EQ(dir.n_files(), 1u);
}

TEST(GgufWriter, says_where_it_cannot_write) {
  TemporaryDir dir;
  const auto no_folder = GgufWriter().write(dir.path() / "none" / "m.gguf");
  ASSERT_FALSE(no_folder.has_value());
  EXPECT_EQ(to_string(no_folder.error().code), "io");
  fs::create_directories(dir.path() / "taken");
  const auto taken = GgufWriter().write(dir.path() / "taken");
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().message.find("taken"), std::string::npos) << taken.error().message;
  EXPECT_EQ(dir.n_files(), 1u);
}

// A stream is the same file, whatever the pieces; until finish() the name keeps what it had.
TEST(GgufStream, gives_the_bytes_of_write_for_any_pieces) {
  std::vector<std::byte> data(5 * 34 * 3);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
  GgufWriter w;
  w.add("general.architecture", std::string_view("x"));
  const auto tensor = [&](std::string_view name, int64_t rows) {
    TensorView t{.name = name, .dtype = DType::q8_0, .n_dims = 2, .ne = {32, rows, 1, 1}, .data = data.data()};
    w.add_tensor(t);
    return std::span<const std::byte>(data).first(t.n_bytes());
  };
  std::vector<std::byte> all;
  for (const auto& [name, rows] : {std::pair{"a", 3}, std::pair{"b", 5}, std::pair{"c", 1}}) {
    const auto bytes = tensor(name, rows);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  const auto expected = w.serialise();
  ASSERT_TRUE(expected);
  const auto path = std::filesystem::temp_directory_path() / ("ridge-stream-" + std::to_string(getpid()) + ".gguf");
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{102}, all.size()}) {
    std::filesystem::remove(path);
    auto stream = w.start(path);
    ASSERT_TRUE(stream) << stream.error().message;
    for (size_t at = 0; at < all.size(); at += piece)
      ASSERT_TRUE(stream->write(std::span(all).subspan(at, std::min(piece, all.size() - at))));
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(stream->finish());
    const auto read = MappedFile::open(path);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->bytes().size(), expected->size());
    EXPECT_EQ(std::memcmp(read->bytes().data(), expected->data(), expected->size()), 0) << piece;
  }
  std::filesystem::remove(path);
}

TEST(GgufStream, too_much_and_too_little_data_are_refused_and_leave_no_file) {
  const std::vector<std::byte> data(34);
  GgufWriter w;
  w.add_tensor({.name = "a", .dtype = DType::q8_0, .n_dims = 1, .ne = {32, 1, 1, 1}});
  const auto path = std::filesystem::temp_directory_path() / ("ridge-short-" + std::to_string(getpid()) + ".gguf");
  {
    auto stream = w.start(path);
    ASSERT_TRUE(stream);
    ASSERT_TRUE(stream->write(std::span(data).first(33)));
    const auto early = stream->finish();
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().code, ErrorCode::invalid_argument);
    ASSERT_TRUE(stream->write(std::span(data).first(1)));
    EXPECT_FALSE(stream->write(std::span(data).first(1)));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(w.start("/nonexistent/folder/x.gguf"));
}

}  // namespace
}  // namespace ridge
