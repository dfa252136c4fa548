// The table of formats against reference blocks (golden/quant), against dtype.h, and against hostile bytes; the
// constant tables against checksums of ggml's.
#include "quant/formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "base/rng.h"
#include "golden_dir.h"
#include "quant/iq_tables.h"

namespace ridge::quant {
namespace {

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<float> read_floats(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

struct IndexRow {
  uint32_t id = 0, block_elems = 0, block_bytes = 0;
  std::string name;
  double rmse_x1e6 = 0;
};

std::vector<IndexRow> read_index(const std::filesystem::path& golden) {
  std::ifstream file(golden / "quant" / "index.tsv");
  std::string line;
  std::getline(file, line);  // the heading
  std::vector<IndexRow> rows;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    IndexRow row;
    if (fields >> row.id >> row.name >> row.block_elems >> row.block_bytes >> row.rmse_x1e6) rows.push_back(row);
  }
  return rows;
}

// The figure of index.tsv: root of the mean squared difference, in millionths.
double rmse_x1e6(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size())) * 1e6;
}

std::string test_name(const ::testing::TestParamInfo<Format>& param) {
  return std::string(param.param.name());
}

class EachFormat : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Table, EachFormat, ::testing::ValuesIn(formats().begin(), formats().end()), test_name);

std::vector<Format> formats_with_encoder() {
  std::vector<Format> with;
  for (const Format& format : formats()) {
    if (format.encode != nullptr) with.push_back(format);
  }
  return with;
}

class EachEncoder : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Table, EachEncoder, ::testing::ValuesIn(formats_with_encoder()), test_name);

TEST_P(EachFormat, decodes_reference_blocks_to_the_last_bit) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const Format& format = GetParam();
  if (format.type == DType::f32) return;  // not in the reference data: it is the form that decoded values have
  const auto blocks = read_file(golden / "quant" / (std::string(format.name()) + ".blocks"));
  const auto expected = read_floats(golden / "quant" / (std::string(format.name()) + ".f32"));
  ASSERT_EQ(expected.size(), 16u * 1024u);
  const auto n = static_cast<int64_t>(expected.size());
  ASSERT_EQ(blocks.size(), row_bytes(format.type, n));
  std::vector<float> got(expected.size());
  ASSERT_TRUE(decode_row(format.type, blocks.data(), got.data(), n));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(float)), 0)
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
  }
}

TEST_P(EachFormat, has_the_sizes_of_the_type_table) {
  const Format& format = GetParam();
  EXPECT_EQ(format.block_elems, info(format.type).block_elems);
  EXPECT_EQ(format.block_bytes, info(format.type).block_bytes);
  EXPECT_EQ(find_format(format.type)->decode, format.decode);
}

// Under the address sanitizer the buffers, which have exactly the right sizes, show any byte read or written outside.
TEST_P(EachFormat, decodes_any_bytes_at_any_alignment_within_its_blocks) {
  const Format& format = GetParam();
  constexpr int kBlocks = 3;
  const size_t n_bytes = size_t{format.block_bytes} * kBlocks, n_elems = size_t{format.block_elems} * kBlocks;
  for (uint64_t round = 0; round < 400; ++round) {
    const auto aligned = std::make_unique<std::byte[]>(n_bytes);
    for (size_t i = 0; i < n_bytes; ++i) aligned[i] = static_cast<std::byte>(random_bits(7, round, i));
    if (round == 0) std::memset(aligned.get(), 0xFF, n_bytes);  // NaN scales, the highest indices
    if (round == 1) std::memset(aligned.get(), 0x7C, n_bytes);
    const auto first = std::make_unique<float[]>(n_elems), second = std::make_unique<float[]>(n_elems);
    ASSERT_TRUE(decode_row(format.type, aligned.get(), first.get(), static_cast<int64_t>(n_elems)));
    const size_t shift = 1 + round % 7;
    const auto shifted = std::make_unique<std::byte[]>(n_bytes + shift);
    std::memcpy(shifted.get() + shift, aligned.get(), n_bytes);
    ASSERT_TRUE(decode_row(format.type, shifted.get() + shift, second.get(), static_cast<int64_t>(n_elems)));
    ASSERT_EQ(std::memcmp(first.get(), second.get(), n_elems * sizeof(float)), 0) << "shift " << shift;
  }
}

TEST_P(EachFormat, blocks_do_not_depend_on_their_neighbours) {
  const Format& format = GetParam();
  std::vector<std::byte> two(2 * format.block_bytes);
  for (size_t i = 0; i < two.size(); ++i)
    two[i] = static_cast<std::byte>(random_bits(9, 0, i) & 0x3F);  // no NaN scales
  std::vector<float> both(2 * format.block_elems), alone(format.block_elems);
  format.decode(two.data(), both.data(), static_cast<int64_t>(both.size()));
  format.decode(two.data() + format.block_bytes, alone.data(), format.block_elems);
  EXPECT_EQ(std::memcmp(alone.data(), both.data() + format.block_elems, alone.size() * sizeof(float)), 0);
}

TEST_P(EachFormat, refuses_lengths_that_are_no_whole_number_of_blocks) {
  const Format& format = GetParam();
  std::vector<std::byte> blocks(format.block_bytes);
  std::vector<float> out(format.block_elems);
  EXPECT_TRUE(decode_row(format.type, blocks.data(), out.data(), 0));
  EXPECT_EQ(decode_row(format.type, blocks.data(), out.data(), -int64_t{format.block_elems}).error().code,
            ErrorCode::invalid_argument);
  if (format.block_elems == 1) return;
  for (const int64_t n : {int64_t{1}, int64_t{format.block_elems} - 1, int64_t{format.block_elems} + 1}) {
    const auto result = decode_row(format.type, blocks.data(), out.data(), n);
    ASSERT_FALSE(result) << n;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().message.find(format.name()), std::string::npos);
  }
}

TEST_P(EachEncoder, encodes_the_reference_matrix_as_well_as_the_reference) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const Format& format = GetParam();
  const auto input = read_floats(golden / "quant" / "input.16x1024.f32");
  ASSERT_EQ(input.size(), 16u * 1024u);
  const auto n = static_cast<int64_t>(input.size());
  std::vector<std::byte> blocks(row_bytes(format.type, n));
  std::vector<float> decoded(input.size());
  ASSERT_TRUE(encode_row(format.type, input.data(), blocks.data(), n));
  ASSERT_TRUE(decode_row(format.type, blocks.data(), decoded.data(), n));
  if (format.type == DType::f32) {
    EXPECT_EQ(decoded, input);
    return;
  }
  double reference = -1;
  for (const IndexRow& row : read_index(golden)) {
    if (row.name == format.name()) reference = row.rmse_x1e6;
  }
  ASSERT_GE(reference, 0);
  const double error = rmse_x1e6(input, decoded);
  RecordProperty("rmse_x1e6", std::to_string(error));
  EXPECT_LE(error, 1.01 * reference);
  EXPECT_NEAR(rmse_x1e6(input, read_floats(golden / "quant" / (std::string(format.name()) + ".f32"))), reference, 0.001)
      << "the error is defined otherwise than here";
  const auto expected = read_file(golden / "quant" / (std::string(format.name()) + ".blocks"));
  size_t n_different = 0;
  for (size_t i = 0; i < blocks.size(); ++i) n_different += blocks[i] != expected[i] ? 1 : 0;
  RecordProperty("bytes_unlike_reference", std::to_string(n_different));
  if (format.quantise != nullptr && format.type != DType::q4_0 && format.type != DType::q4_1 &&
      format.type != DType::q5_0 && format.type != DType::q5_1 && format.type != DType::iq4_nl)
    return;  // found by a search of its own, not by the reference's rounding
  EXPECT_LE(n_different, blocks.size() / 1000) << "rounding differs from the reference in more than a few ties";
}

TEST_P(EachEncoder, encodes_any_floats_and_shows_those_that_are_not_finite) {
  const Format& format = GetParam();
  const float hard[] = {0.0f,
                        -0.0f,
                        1e-45f,
                        -1e-40f,
                        1e-20f,
                        1.0f,
                        -1.0f,
                        65504.0f,
                        65520.0f,
                        3e38f,
                        -3e38f,
                        std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()};
  constexpr uint64_t kHard = std::size(hard);
  const size_t n = format.block_elems;
  for (uint64_t round = 0; round < 300; ++round) {
    std::vector<float> in(n), out(n);
    bool finite = true;
    for (size_t i = 0; i < n; ++i) {
      in[i] = hard[random_bits(3, round, i) % (round < 100 ? kHard : kHard - 3)];
      finite &= std::isfinite(in[i]);
    }
    const auto blocks = std::make_unique<std::byte[]>(format.block_bytes);
    ASSERT_TRUE(encode_row(format.type, in.data(), blocks.get(), static_cast<int64_t>(n)));
    ASSERT_TRUE(decode_row(format.type, blocks.get(), out.data(), static_cast<int64_t>(n)));
    bool all_finite = true;
    for (const float v : out) all_finite &= std::isfinite(v);
    ASSERT_TRUE(finite || !all_finite) << "round " << round;
  }
}

TEST_P(EachEncoder, encodes_zeros_as_zeros) {
  const Format& format = GetParam();
  const std::vector<float> zeros(format.block_elems);
  std::vector<float> out(format.block_elems, 1.0f);
  std::vector<std::byte> blocks(format.block_bytes);
  format.encode(zeros.data(), blocks.data(), format.block_elems);
  format.decode(blocks.data(), out.data(), format.block_elems);
  for (const float v : out) EXPECT_EQ(v, 0.0f);
}

TEST(Formats, every_format_of_the_reference_index_has_its_row) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto index = read_index(golden);
  ASSERT_GE(index.size(), 27u);
  for (const IndexRow& row : index) {
    SCOPED_TRACE(row.name);
    const DTypeInfo* type = find_dtype(row.id);
    ASSERT_NE(type, nullptr);
    const Format* format = find_format(type->id);
    ASSERT_NE(format, nullptr);
    EXPECT_EQ(format->name(), row.name);
    EXPECT_EQ(format->block_elems, row.block_elems);
    EXPECT_EQ(format->block_bytes, row.block_bytes);
  }
}

TEST(Formats, exactly_the_types_that_are_real_numbers_have_rows) {
  for (const DTypeInfo& type : dtype_table())
    EXPECT_EQ(find_format(type.id) != nullptr, type.is_float_like) << type.name;
  EXPECT_EQ(find_format(static_cast<DType>(4)), nullptr);
  EXPECT_EQ(find_format(static_cast<DType>(1000000)), nullptr);
}

TEST(Formats, types_without_decoder_or_encoder_are_refused_by_name) {
  std::byte blocks[256] = {};
  float values[256] = {};
  const auto integer = decode_row(DType::i32, blocks, values, 1);
  ASSERT_FALSE(integer);
  EXPECT_EQ(integer.error().code, ErrorCode::unsupported);
  EXPECT_NE(integer.error().message.find("i32"), std::string::npos);
  EXPECT_NE(decode_row(static_cast<DType>(77), blocks, values, 1).error().message.find("77"), std::string::npos);
  for (const auto& refused :
       {encode_row(DType::iq2_s, values, blocks, 256), quantise_row(DType::iq2_s, values, nullptr, blocks, 256)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().message.find("iq2_s"), std::string::npos);
  }
}

uint64_t fnv1a(const void* data, size_t n_bytes) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < n_bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ULL;
  return hash;
}

// The figures were computed from the tables as ggml-common.h lists them, not from the codes here.
TEST(IqTables, every_entry_of_every_grid_is_that_of_ggml) {
  EXPECT_EQ(fnv1a(&kIq1sGrid.entry, sizeof(kIq1sGrid.entry)), 0x6703ed863501ae2eULL);
  EXPECT_EQ(fnv1a(&kIq2xxsGrid.entry, sizeof(kIq2xxsGrid.entry)), 0xbb4ee025b5ac6e8eULL);
  EXPECT_EQ(fnv1a(&kIq2xsGrid.entry, sizeof(kIq2xsGrid.entry)), 0xc9b1ee61e79909bdULL);
  EXPECT_EQ(fnv1a(&kIq2sGrid.entry, sizeof(kIq2sGrid.entry)), 0x123edd38a3b62b90ULL);
  EXPECT_EQ(fnv1a(&kIq3xxsGrid.entry, sizeof(kIq3xxsGrid.entry)), 0xdfa5dc83d6a155d5ULL);
  EXPECT_EQ(fnv1a(&kIq3sGrid.entry, sizeof(kIq3sGrid.entry)), 0xfa37020c25b44829ULL);
}

TEST(IqTables, signs_are_even_in_number) {
  for (unsigned i = 0; i < 128; ++i) {
    EXPECT_EQ(kEvenSigns.entry[i] & 127u, i);
    EXPECT_EQ(__builtin_popcount(kEvenSigns.entry[i]) % 2, 0);
  }
}

TEST(Mxfp4, scale_is_a_power_of_two_from_the_subnormals_up) {
  std::vector<std::byte> block(17);
  float out[32];
  for (int e = 0; e < 254; ++e) {
    block[0] = static_cast<std::byte>(e);
    block[1] = static_cast<std::byte>(2);  // E2M1 code of 1.0
    ASSERT_TRUE(decode_row(DType::mxfp4, block.data(), out, 32));
    EXPECT_EQ(out[0], std::ldexp(1.0f, e - 127)) << e;
  }
}

}  // namespace
}  // namespace ridge::quant
