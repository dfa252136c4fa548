// Sets of split files: whole, and wrong in each way that sets go wrong.
#include "file/gguf_split.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "file/gguf.h"
#include "file/gguf_test_bytes.h"
#include "file/gguf_writer.h"

namespace ridge {
namespace {

using namespace ridge::testing;
namespace fs = std::filesystem;

struct ShardSpec {
  uint16_t no = 0, count = 3;
  int32_t n_tensors = 3;
  std::string arch = "";  // empty: no such key
  std::string tensor_name = "t0";
  uint32_t version = 3;
};

std::string shard_bytes(const ShardSpec& s) {
  std::string keys;
  uint64_t n_keys = 3;
  if (!s.arch.empty()) {
    keys += kv_str("general.architecture", s.arch);
    ++n_keys;
  }
  keys += kv_u16("split.no", s.no) + kv_u16("split.count", s.count) + kv_i32("split.tensors.count", s.n_tensors);
  return padded(header(1, n_keys, s.version) + keys + tensor(s.tensor_name, {8})) + data(32);
}

class GgufSplit : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() /
           fmt::format("ridge_split_{}_{}", getpid(), ::testing::UnitTest::GetInstance()->random_seed());
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    put("m-00001-of-00003.gguf", shard_bytes({.no = 0, .arch = "llama", .tensor_name = "t0"}));
    put("m-00002-of-00003.gguf", shard_bytes({.no = 1, .tensor_name = "t1"}));
    put("m-00003-of-00003.gguf", shard_bytes({.no = 2, .tensor_name = "t2"}));
  }
  void TearDown() override { fs::remove_all(dir_); }

  void put(const std::string& name, const std::string& bytes) { std::ofstream(dir_ / name, std::ios::binary) << bytes; }
  Result<GgufFile> open(int number) { return GgufFile::open(dir_ / fmt::format("m-{:05d}-of-00003.gguf", number)); }
  // Each file of the set, opened, is refused with these words.
  void expect_all_refused(std::vector<std::string_view> words, ErrorCode code = ErrorCode::bad_file) {
    for (int i = 1; i <= 3; ++i) {
      if (!fs::exists(dir_ / fmt::format("m-{:05d}-of-00003.gguf", i))) continue;
      const auto file = open(i);
      ASSERT_FALSE(file.has_value()) << i;
      EXPECT_EQ(to_string(file.error().code), to_string(code)) << file.error().message;
      for (const auto w : words) {
        EXPECT_NE(file.error().message.find(w), std::string::npos) << "no '" << w << "' in: " << file.error().message;
      }
    }
  }

  fs::path dir_;
};

TEST_F(GgufSplit, any_file_opens_the_whole_set) {
  for (int i = 1; i <= 3; ++i) {
    const auto file = open(i);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    ASSERT_EQ(file->tensors().size(), 3u);
    EXPECT_EQ(file->tensors()[0].name, "t0");
    EXPECT_EQ(file->tensors()[2].name, "t2");
    ASSERT_NE(file->find_tensor("t1"), nullptr);
    EXPECT_EQ(static_cast<int>(file->find_tensor("t1")->data[1]), 8);
    EXPECT_EQ(file->get_string("general.architecture").value(), "llama");
    ASSERT_EQ(file->shards().size(), 3u);
    EXPECT_EQ(file->shards()[1].name, "m-00002-of-00003.gguf");
    EXPECT_EQ(file->n_params(), 24u);
  }
}

TEST_F(GgufSplit, opens_by_a_bare_name_in_the_current_directory) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  const auto file = GgufFile::open("m-00002-of-00003.gguf");
  fs::current_path(before);
  EXPECT_TRUE(file.has_value()) << file.error().message;
}

TEST_F(GgufSplit, is_written_back_as_one_file) {
  const auto set = open(1);
  ASSERT_TRUE(set.has_value());
  ASSERT_TRUE(GgufWriter::from(*set).write(dir_ / "merged.gguf").has_value());
  const auto merged = GgufFile::open(dir_ / "merged.gguf");
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(merged->tensors().size(), 3u);
  EXPECT_FALSE(merged->has("split.count"));
  EXPECT_EQ(merged->metadata().size(), 1u);
}

TEST_F(GgufSplit, names_the_file_that_is_missing) {
  for (const int gone : {1, 2, 3}) {
    SetUp();
    fs::remove(dir_ / fmt::format("m-{:05d}-of-00003.gguf", gone));
    expect_all_refused({fmt::format("m-{:05d}-of-00003.gguf", gone), fmt::format("file {} of the 3", gone)},
                       ErrorCode::not_found);
  }
}

TEST_F(GgufSplit, refuses_a_file_of_a_set_of_another_size) {
  put("m-00002-of-00003.gguf", shard_bytes({.no = 1, .count = 4, .tensor_name = "t1"}));
  expect_all_refused({"m-00002-of-00003.gguf", "split.count"});
}

TEST_F(GgufSplit, refuses_a_file_of_another_model) {
  put("m-00003-of-00003.gguf", shard_bytes({.no = 2, .arch = "qwen2", .tensor_name = "t2"}));
  expect_all_refused({"m-00003-of-00003.gguf", "general.architecture", "qwen2", "llama"});
}

TEST_F(GgufSplit, refuses_a_file_that_declares_another_number_of_tensors) {
  put("m-00003-of-00003.gguf", shard_bytes({.no = 2, .n_tensors = 4, .tensor_name = "t2"}));
  expect_all_refused({"m-00003-of-00003.gguf", "split.tensors.count", "4", "3"});
}

TEST_F(GgufSplit, refuses_a_file_of_another_version) {
  put("m-00002-of-00003.gguf", shard_bytes({.no = 1, .tensor_name = "t1", .version = 2}));
  expect_all_refused({"m-00002-of-00003.gguf", "version 2"});
}

TEST_F(GgufSplit, refuses_a_file_that_is_no_part_of_a_set) {
  put("m-00002-of-00003.gguf", tiny_model());
  expect_all_refused({"m-00002-of-00003.gguf", "split.count"});
}

TEST_F(GgufSplit, refuses_files_with_swapped_names) {
  put("m-00001-of-00003.gguf", shard_bytes({.no = 1, .tensor_name = "t1"}));
  put("m-00002-of-00003.gguf", shard_bytes({.no = 0, .arch = "llama", .tensor_name = "t0"}));
  expect_all_refused({"split.no"});
}

TEST_F(GgufSplit, refuses_a_tensor_that_two_files_hold) {
  put("m-00002-of-00003.gguf", shard_bytes({.no = 1, .tensor_name = "t0"}));
  expect_all_refused({"tensor 't0'", "twice"});
}

TEST_F(GgufSplit, refuses_a_set_with_fewer_tensors_than_declared) {
  for (uint16_t i = 0; i < 3; ++i) {
    put(fmt::format("m-{:05d}-of-00003.gguf", i + 1),
        shard_bytes({.no = i, .n_tensors = 5, .tensor_name = fmt::format("t{}", i)}));
  }
  expect_all_refused({"split.tensors.count", "5", "3 tensors"});
}

TEST_F(GgufSplit, refuses_a_damaged_file_of_the_set_by_its_name) {
  put("m-00003-of-00003.gguf", shard_bytes({.no = 2, .tensor_name = "t2"}).substr(0, 180));
  expect_all_refused({"m-00003-of-00003.gguf"});
}

TEST_F(GgufSplit, refuses_a_shard_under_another_name_and_says_which_it_should_have) {
  for (const std::string name : {"model.gguf", "m-00001-of-00002.gguf", "m-00003-of-00003.gguf", "m-1-of-3.gguf"}) {
    put(name, shard_bytes({.no = 1, .tensor_name = "t1"}));
    const auto file = GgufFile::open(dir_ / name);
    ASSERT_FALSE(file.has_value()) << name;
    EXPECT_NE(file.error().message.find("-00002-of-00003.gguf"), std::string::npos) << file.error().message;
  }
}

TEST_F(GgufSplit, refuses_files_joined_by_cat) {
  put("joined.gguf",
      shard_bytes({.no = 0, .arch = "llama", .tensor_name = "t0"}) + shard_bytes({.no = 1, .tensor_name = "t1"}));
  const auto file = GgufFile::open(dir_ / "joined.gguf");
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("cat"), std::string::npos) << file.error().message;
}

TEST_F(GgufSplit, refuses_impossible_numbers) {
  put("a.gguf", padded(header(0, 2) + kv_u32("split.no", 0) + kv_u32("split.count", 5000)));
  put("b.gguf", padded(header(0, 2) + kv_i32("split.no", -1) + kv_u32("split.count", 2)));
  put("c.gguf", padded(header(0, 2) + kv_u32("split.no", 2) + kv_u32("split.count", 2)));
  put("d.gguf", padded(header(0, 1) + kv_str("split.count", "2")));
  put("e.gguf", padded(header(0, 1) + kv_u32("split.count", 2)));
  put("f-00000-of-00002.gguf", padded(header(0, 2) + kv_u32("split.no", 0) + kv_u32("split.count", 2)));
  for (const char* name : {"a.gguf", "b.gguf", "c.gguf", "d.gguf", "e.gguf", "f-00000-of-00002.gguf"}) {
    const auto file = GgufFile::open(dir_ / name);
    ASSERT_FALSE(file.has_value()) << name;
    EXPECT_NE(file.error().message.find("split."), std::string::npos) << file.error().message;
  }
}

TEST_F(GgufSplit, a_set_of_one_needs_no_name) {
  put("one.gguf", shard_bytes({.no = 0, .count = 1, .n_tensors = 1, .arch = "llama"}));
  put("one-00001-of-00001.gguf", shard_bytes({.no = 0, .count = 1, .n_tensors = 1, .arch = "llama"}));
  put("two-00001-of-00001.gguf", tiny_model());
  for (const char* name : {"one.gguf", "one-00001-of-00001.gguf", "two-00001-of-00001.gguf"}) {
    const auto file = GgufFile::open(dir_ / name);
    EXPECT_TRUE(file.has_value()) << file.error().message;
  }
}

TEST_F(GgufSplit, shard_names_have_exactly_five_digits_twice) {
  const auto name = gguf::parse_shard_name("a-b-00012-of-00345.gguf");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->prefix, "a-b");
  EXPECT_EQ(name->number, 12u);
  EXPECT_EQ(name->count, 345u);
  EXPECT_EQ(gguf::shard_file_name(*name, 13), "a-b-00013-of-00345.gguf");
  for (const char* no :
       {"a.gguf", "", "-0001-of-00002.gguf", "a-00001-of-0002.gguf", "a-00001-of-00002.ggu", "a-0000x-of-00002.gguf"}) {
    EXPECT_FALSE(gguf::parse_shard_name(no).has_value()) << no;
  }
}

using BuglogSplit = GgufSplit;
TEST_F(BuglogSplit, GGUF_17_the_second_file_opened_first_loads_the_set_and_wrong_sets_are_refused) {
  EXPECT_EQ(open(2).value().tensors().size(), 3u);
  put("m-00003-of-00003.gguf", shard_bytes({.no = 2, .arch = "gemma2", .tensor_name = "t2"}));
  EXPECT_FALSE(open(2).has_value());
  put("m-00003-of-00003.gguf", shard_bytes({.no = 2, .tensor_name = "t1"}));
  EXPECT_FALSE(open(2).has_value());
  put("m-00003-of-00003.gguf", shard_bytes({.no = 1, .tensor_name = "t2"}));
  EXPECT_FALSE(open(2).has_value());
}

}  // namespace
}  // namespace ridge
