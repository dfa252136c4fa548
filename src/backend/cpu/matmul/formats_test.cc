// The matmul kernels of every instruction set of this machine: unpacking against quant/ bit for bit; products against
// double sums; and the rule of kernel_set.h that all ways to form a sum give the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "backend/cpu/dispatch.h"
#include "quant/formats.h"

namespace ridge::cpu {
namespace {

class MatmulKernel : public ::testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }

  struct FormatCase {
    quant::Format format;
    const FormatKernels* kernels;
  };
  // Formats with kernels of their own here.
  std::vector<FormatCase> cases() const {
    std::vector<FormatCase> all;
    for (const quant::Format& f : quant::formats()) {
      if (const FormatKernels* k = format_kernels(set(), f.type)) all.push_back({f, k});
    }
    return all;
  }
  std::mt19937 random_{5};
};

// Random bytes at an odd address: every field takes every value, NaN and infinite scales included.
struct Bytes {
  std::vector<std::byte> memory;
  std::byte* data;
  Bytes(std::mt19937& random, size_t n, bool tame) : memory(n + 1), data(memory.data() + 1) {
    for (std::byte& b : memory) b = static_cast<std::byte>(random() & (tame ? 0x33 : 0xFF));
  }
  const uint8_t* u8() const { return reinterpret_cast<const uint8_t*>(data); }
};

bool same_value(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

TEST_P(MatmulKernel, unpack_equals_quant_bit_for_bit_on_random_blocks) {
  for (const FormatCase& c : cases()) {
    const int64_t n = int64_t{c.format.block_elems} * (c.format.block_elems == 1 ? 4099 : 37);
    for (int round = 0; round < 20; ++round) {
      const Bytes blocks(random_, row_bytes(c.format.type, n), false);
      std::vector<float> expected(static_cast<size_t>(n)), found(static_cast<size_t>(n) + 1);
      c.format.decode(blocks.data, expected.data(), n);
      c.kernels->unpack(blocks.u8(), n, found.data() + 1);  // misaligned too
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same_value(expected[static_cast<size_t>(i)], found[static_cast<size_t>(i) + 1]))
            << c.format.name() << " element " << i << ": " << expected[static_cast<size_t>(i)] << " became "
            << found[static_cast<size_t>(i) + 1];
      }
    }
  }
}

TEST_P(MatmulKernel, unpack_of_floats_writes_no_element_past_the_end) {
  for (const FormatCase& c : cases()) {
    if (c.format.block_elems != 1) continue;
    for (int64_t n = 0; n <= 33; ++n) {
      const Bytes blocks(random_, row_bytes(c.format.type, n), true);
      std::vector<float> out(static_cast<size_t>(n) + 1, 77.0f);
      c.kernels->unpack(blocks.u8(), n, out.data());
      EXPECT_EQ(out.back(), 77.0f) << c.format.name() << ' ' << n;
    }
  }
}

// The tile over all columns at once is the yardstick; see tile_equals_a_sum_in_double for its own.
std::vector<float> product_by_tile(const KernelSet& set, const quant::Format& f, const Bytes& w, int32_t rows,
                                   int64_t n, const float* x) {
  std::vector<float> unpacked(static_cast<size_t>(rows * n)), y(static_cast<size_t>(rows));
  for (int32_t r = 0; r < rows; ++r)
    f.decode(w.data + static_cast<size_t>(r) * row_bytes(f.type, n), unpacked.data() + r * n, n);
  for (int64_t k = 0; k < n; k += kSumChunk) {
    const float* column = x + k;
    float* out = y.data();
    set.matmul.tile({unpacked.data() + k, n, rows}, static_cast<int32_t>(std::min<int64_t>(kSumChunk, n - k)), &column,
                    &out, 1, k == 0);
  }
  return y;
}

TEST_P(MatmulKernel, dot_gives_the_bits_of_the_tile_for_any_row_count) {
  std::normal_distribution<float> normal;
  for (const FormatCase& c : cases()) {
    const int64_t block = c.format.block_elems;
    for (const int64_t n : {block, 2 * block, 1024 / block * block, 1024 / block * block + block,
                            3 * 1024 / block * block - block, int64_t{1030} / block * block}) {
      std::vector<float> x(static_cast<size_t>(n) + 1);
      for (float& v : x) v = normal(random_);
      for (const int32_t rows : {1, 2, 3, 4, 5, 7, 8, 13}) {
        const Bytes w(random_, row_bytes(c.format.type, n) * static_cast<size_t>(rows), true);
        const std::vector<float> expected = product_by_tile(set(), c.format, w, rows, n, x.data() + 1);
        std::vector<float> found(static_cast<size_t>(rows));
        c.kernels->dot({w.u8(), static_cast<int64_t>(row_bytes(c.format.type, n)), rows}, n, x.data() + 1,
                       found.data());
        for (int32_t r = 0; r < rows; ++r) {
          ASSERT_TRUE(same_value(expected[static_cast<size_t>(r)], found[static_cast<size_t>(r)]))
              << c.format.name() << " n " << n << " row " << r << " of " << rows;
        }
      }
    }
  }
}

TEST_P(MatmulKernel, tile_equals_a_sum_in_double_and_does_not_depend_on_its_neighbours) {
  std::normal_distribution<float> normal;
  for (const int32_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100, 1023, 1024}) {
    const int32_t rows = 9, cols = 20;
    std::vector<float> w(static_cast<size_t>(rows * n) + 1), x(static_cast<size_t>(cols * n) + 1);
    for (float& v : w) v = normal(random_);
    for (float& v : x) v = normal(random_);
    std::vector<const float*> xs;
    for (int32_t c = 0; c < cols; ++c) xs.push_back(x.data() + 1 + c * n);
    std::vector<float> alone(static_cast<size_t>(rows * cols));
    for (int32_t c = 0; c < cols; ++c) {
      for (int32_t r = 0; r < rows; ++r) {
        float* out = &alone[static_cast<size_t>(c * rows + r)];
        set().matmul.tile({w.data() + 1 + r * n, n, 1}, n, &xs[static_cast<size_t>(c)], &out, 1, true);
        double sum = 0, size = 0;
        for (int32_t k = 0; k < n; ++k) {
          const double p = double{w[static_cast<size_t>(1 + r * n + k)]} * xs[static_cast<size_t>(c)][k];
          sum += p;
          size += std::fabs(p);
        }
        EXPECT_NEAR(*out, sum, 3e-6 * size + 1e-30) << n;
      }
    }
    for (int32_t use = 1; use <= cols; ++use) {
      for (const int32_t height : {1, 3, 4, 6, 9}) {
        std::vector<float> y(static_cast<size_t>(cols * (rows + 1)), -5.0f);
        std::vector<float*> ys;
        for (int32_t c = 0; c < cols; ++c) ys.push_back(y.data() + c * (rows + 1));
        set().matmul.tile({w.data() + 1, n, height}, n, xs.data(), ys.data(), use, true);
        for (int32_t c = 0; c < cols; ++c) {
          for (int32_t r = 0; r <= rows; ++r) {
            const float expected = c < use && r < height ? alone[static_cast<size_t>(c * rows + r)] : -5.0f;
            ASSERT_EQ(ys[static_cast<size_t>(c)][r], expected)
                << "n " << n << " columns " << use << " rows " << height << " at " << c << ',' << r;
          }
        }
      }
    }
  }
}

TEST_P(MatmulKernel, tile_adds_to_what_is_there_unless_first) {
  const float w[3] = {1, 2, 3}, x[3] = {1, 10, 100};
  const float* column = x;
  float y = 1000, *out = &y;
  set().matmul.tile({w, 3, 1}, 3, &column, &out, 1, false);
  EXPECT_EQ(y, 1321.0f);
  set().matmul.tile({w, 3, 1}, 3, &column, &out, 1, true);
  EXPECT_EQ(y, 321.0f);
}

TEST_P(MatmulKernel, nan_and_infinity_in_weights_reach_the_result) {
  for (const FormatCase& c : cases()) {
    if (c.format.encode == nullptr) continue;
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const int64_t n = 512;
      std::vector<float> row(n, 0.5f), x(n, 1.0f);
      row[n - 1] = bad;
      Bytes w(random_, row_bytes(c.format.type, n), true);
      c.format.encode(row.data(), w.data, n);
      float y = 0;
      c.kernels->dot({w.u8(), 0, 1}, n, x.data(), &y);
      EXPECT_FALSE(std::isfinite(y)) << c.format.name();
    }
  }
}

TEST(MatmulKernels, every_format_of_the_issue_has_simd_unpacking_on_every_simd_isa) {
  for (const KernelSet* set : available_kernels()) {
    if (std::string_view(set->isa) == "scalar") continue;
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                             DType::q8_0, DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k,
                             DType::iq4_nl, DType::iq4_xs, DType::mxfp4}) {
      EXPECT_NE(format_kernels(*set, type), nullptr) << set->isa << ' ' << info(type).name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllIsas, MatmulKernel, ::testing::ValuesIn(available_kernels()),
                         [](const auto& i) { return std::string(i.param->isa); });

}  // namespace
}  // namespace ridge::cpu
