// Damaged files by the thousand, and the bug log's rows on the container: each file is read or refused; nothing else
// happens.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

#include "base/mapped_file.h"
#include "base/rng.h"
#include "file/gguf.h"
#include "file/gguf_test_bytes.h"
#include "golden_dir.h"

namespace ridge {
namespace {

using namespace ridge::testing;

// Looks at everything that the file claims to hold; the sum keeps the compiler from skipping it.
uint64_t touch(const GgufFile& file) {
  uint64_t sum = 0;
  for (const MetaEntry& e : file.metadata()) {
    sum += e.key.size() + describe(e.value).size() + (file.find(e.key) == &e.value ? 1 : 0);
    if (const auto* list = std::get_if<StringArray>(&e.value)) {
      for (const std::string_view s : *list) sum += s.empty() ? 0 : static_cast<uint8_t>(s.back());
    }
  }
  for (const TensorView& t : file.tensors()) {
    sum += static_cast<uint64_t>(t.data[0]) + static_cast<uint64_t>(t.data[t.n_bytes() - 1]);
  }
  return sum;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void expect_refused(std::string_view name, const std::string& text) {
  const auto bytes = to_bytes(text);
  const auto start = std::chrono::steady_clock::now();
  const auto file = GgufFile::parse(bytes);
  EXPECT_LT(seconds_since(start), 0.01) << name;
  ASSERT_FALSE(file.has_value()) << name;
  EXPECT_FALSE(file.error().message.empty()) << name;
}

// The stories model in memory of exactly n bytes, so that a sanitiser sees one byte too many.
std::optional<MappedFile> stories() {
  const auto path = shared_file("models/stories260K.gguf");
  if (!path) return std::nullopt;
  auto file = MappedFile::open(*path);
  if (!file) return std::nullopt;
  return std::move(*file);
}

TEST(GgufDamage, stories_cut_anywhere_is_refused) {
  const auto file = stories();
  if (!file) GTEST_SKIP() << "no reference data: set RIDGE_GOLDEN to the folder that holds it";
  const auto whole = file->bytes();
  constexpr size_t n_cuts = 2000;
  for (size_t i = 0; i < n_cuts; ++i) {
    // A third of the cuts in the 14 KB of metadata, the others over the whole file.
    const size_t n = i % 3 == 0 ? i * 14200 / n_cuts : i * whole.size() / n_cuts;
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
    const auto parsed = GgufFile::parse(cut);
    ASSERT_FALSE(parsed.has_value()) << "cut at " << n;
    ASSERT_EQ(to_string(parsed.error().code), to_string(ErrorCode::bad_file)) << parsed.error().message;
  }
}

TEST(GgufDamage, stories_with_one_bit_flipped_is_read_or_refused) {
  const auto file = stories();
  if (!file) GTEST_SKIP() << "no reference data: set RIDGE_GOLDEN to the folder that holds it";
  std::vector<std::byte> bytes(file->bytes().begin(), file->bytes().end());
  constexpr uint64_t n_flips = 20000, metadata_bits = 14167 * 8;
  uint64_t n_read = 0, n_refused = 0, sum = 0;
  double slowest_s = 0;
  for (uint64_t i = 0; i < n_flips; ++i) {
    // Three of four in the metadata, where it matters.
    const uint64_t bit = random_bits(1, 2, i) % (i % 4 == 0 ? bytes.size() * 8 : metadata_bits);
    const std::byte mask{static_cast<uint8_t>(1u << (bit % 8))};
    bytes[bit / 8] ^= mask;
    const auto start = std::chrono::steady_clock::now();
    const auto parsed = GgufFile::parse(bytes);
    slowest_s = std::max(slowest_s, seconds_since(start));
    if (parsed) {
      ++n_read;
      sum += touch(*parsed);
    } else {
      ++n_refused;
      ASSERT_FALSE(parsed.error().message.empty());
      ASSERT_NE(parsed.error().code, ErrorCode::internal) << parsed.error().message;
    }
    bytes[bit / 8] ^= mask;
  }
  EXPECT_LT(slowest_s, 0.5);
  EXPECT_GT(n_refused, n_flips / 20);
  EXPECT_GT(n_read, n_flips / 20);
  RecordProperty("read", std::to_string(n_read));
  RecordProperty("refused", std::to_string(n_refused));
  RecordProperty("sum", std::to_string(sum));
}

TEST(GgufDamage, every_bit_of_a_tiny_file_may_flip) {
  auto bytes = to_bytes(tiny_model());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask{static_cast<uint8_t>(1u << (bit % 8))};
    bytes[bit / 8] ^= mask;
    const std::vector<std::byte> exact(bytes);
    if (const auto parsed = GgufFile::parse(exact)) touch(*parsed);
    bytes[bit / 8] ^= mask;
  }
}

// Every 4- and 8-byte window gets the values that break arithmetic.
TEST(GgufDamage, every_number_of_a_tiny_file_may_be_extreme) {
  const auto whole = to_bytes(tiny_model());
  for (size_t at = 0; at + 8 <= whole.size(); ++at) {
    for (const uint64_t x : {uint64_t{0}, uint64_t{1}, uint64_t{0xFFFFFFFF}, uint64_t{1} << 31, uint64_t{1} << 62,
                             uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 31, uint64_t{0x7FFFFFFFFFFFFFFF}}) {
      for (const size_t width : {4, 8}) {
        auto bytes = whole;
        std::memcpy(bytes.data() + at, &x, width);
        if (const auto parsed = GgufFile::parse(bytes)) touch(*parsed);
      }
    }
  }
}

TEST(Buglog, GGUF_01_zero_dimensions_are_refused_by_tensor_name) {
  for (const auto& info : {tensor("t", {0, 0}), tensor("t", {4, 0}), tensor("t", {0, 4}), tensor("t", {0, 0, 0, 0}),
                           tensor("t", {1, 1, 1, 0}), tensor("t", {}), tensor("t", {1, 1, 1, 1, 1})}) {
    for (const size_t n_data : {0, 64}) {
      const auto bytes = to_bytes(padded(header(1, 0) + info) + std::string(n_data, '\0'));
      const auto file = GgufFile::parse(bytes);
      ASSERT_FALSE(file.has_value());
      EXPECT_NE(file.error().message.find("tensor 't'"), std::string::npos) << file.error().message;
    }
  }
}

TEST(Buglog, GGUF_09_absurd_counts_are_refused_within_10_ms) {
  for (const uint64_t n : {uint64_t{1} << 31, uint64_t{1} << 62, uint64_t{1} << 63, ~uint64_t{0}}) {
    expect_refused("keys", header(0, n) + std::string(19, '\0'));
    expect_refused("tensors", header(n, 0) + std::string(19, '\0'));
    expect_refused("key length", header(0, 1) + u64(n) + std::string(11, 'x'));
    expect_refused("string length", header(0, 1) + kv_raw("a", 8, u64(n)) + "x");
    for (uint32_t type = 0; type < 13; ++type)
      expect_refused("array length", header(0, 1) + kv_arr("a", type, n, "xxxx"));
    expect_refused("nested array length", header(0, 1) + kv_arr("a", 9, 1, u32(4) + u64(n)));
    expect_refused("name length", header(1, 0) + u64(n) + std::string(30, 'x'));
  }
}

TEST(Buglog, GGUF_13_tensors_outside_the_file_are_refused) {
  const auto with_offset = [](uint64_t offset, size_t n_data) {
    return padded(header(1, 0) + tensor("t", {32}, 0, offset)) + std::string(n_data, '\0');
  };
  expect_refused("one byte past the end", with_offset(0, 127));
  expect_refused("one alignment past the end", with_offset(32, 128));
  expect_refused("a gigabyte past the end", with_offset(1u << 30, 128));
  expect_refused("2^63", with_offset(uint64_t{1} << 63, 128));
  expect_refused("wraps", with_offset(~uint64_t{0} - 127, 128));
  expect_refused("unaligned", with_offset(16, 256));
  expect_refused("overlap",
                 padded(header(2, 0) + tensor("t", {16}) + tensor("u", {16}, 0, 32)) + std::string(128, '\0'));
  expect_refused("same place", padded(header(2, 0) + tensor("t", {16}) + tensor("u", {8})) + std::string(128, '\0'));
  expect_refused("large shape, small file",
                 padded(header(1, 0) + tensor("t", {1u << 20, 1u << 20})) + std::string(128, '\0'));
}

TEST(Buglog, GGUF_14_odd_keys_are_refused_in_every_build) {
  expect_refused("empty", header(0, 1) + kv_u32("", 1));
  expect_refused("NUL", header(0, 1) + kv_u32(std::string_view("general\0x", 9), 1));
  expect_refused("64 KiB", header(0, 1) + kv_u32(std::string(65536, 'k'), 1));
  expect_refused("invalid UTF-8", header(0, 1) + kv_u32("k\x80", 1));
}

TEST(Buglog, GGUF_20_a_file_cut_at_any_byte_is_refused) {
  const std::string whole = tiny_model();
  ASSERT_TRUE(GgufFile::parse(to_bytes(whole)).has_value());
  // The last tensor's 34 bytes are followed by 30 of padding. Writers that leave the padding out exist, so a file that
  // ends exactly at the tensor's last byte is complete.
  const size_t data_end = whole.size() - 30;
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto cut = to_bytes(std::string_view(whole).substr(0, n));
    const auto file = GgufFile::parse(cut);
    EXPECT_EQ(file.has_value(), n == data_end) << "cut at " << n;
  }
}

}  // namespace
}  // namespace ridge
