// Panels: the packed activations against a plain quantiser, the integer products against sums in double over quant/'s
// decoded weights, and the rule that a result's bits depend on its row and its column alone.
#include "backend/cpu/matmul/panels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/aligned_buffer.h"
#include "quant/formats.h"

namespace ridge::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<const KernelSet*> sets_with_panels() {
  std::vector<const KernelSet*> sets;
  for (const KernelSet* set : available_kernels()) {
    if (set->panels.pack_columns != nullptr) sets.push_back(set);
  }
  return sets;
}

// A matrix in the file's layout and its decoded values.
struct Matrix {
  Weight weight;
  std::vector<std::byte> bytes;
  std::vector<float> values;

  Matrix(std::mt19937& random, const quant::Format& f, int64_t in, int64_t out)
      : bytes(row_bytes(f.type, in) * static_cast<size_t>(out) + 1), values(static_cast<size_t>(in * out)) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    // Blocks whose scale is not a number of ordinary size get fields that are.
    std::vector<float> block(f.block_elems);
    for (size_t at = 1; at < bytes.size(); at += f.block_bytes) {
      f.decode(&bytes[at], block.data(), f.block_elems);
      bool fine = true;
      for (const float x : block) fine &= std::fabs(x) < 1e6f;
      for (size_t i = 0; !fine && i < f.block_bytes; ++i) bytes[at + i] &= std::byte{0x33};
    }
    f.decode(bytes.data() + 1, values.data(), in * out);
    weight.host = {.name = "w", .dtype = f.type, .n_dims = 2, .ne = {in, out, 1, 1}, .data = bytes.data() + 1};
    weight.in = in, weight.out = out;
  }
};

struct Packed {
  PanelMatrix matrix;
  AlignedBuffer memory;

  Packed(const KernelSet& set, const Weight& weight) : matrix(plan_panels(set, weight)) {
    EXPECT_NE(matrix.multiply, nullptr);
    memory = std::move(*AlignedBuffer::allocate(matrix.n_bytes()));
    matrix.data = memory.as<uint8_t>();
    for (int64_t p = 0; p < matrix.n_panels; ++p) pack_panel(matrix, weight, p);
  }

  // Columns [first, first + n_cols) of x, `split` blocks at a time; n_cols <= 12.
  std::vector<float> times(const KernelSet& set, const float* x, int32_t n_cols, int64_t split = 0) const {
    const int32_t width = panel_width(n_cols);
    std::vector<int32_t> words(static_cast<size_t>(matrix.n_blocks * kPackedWords * width));
    set.panels.pack_columns(x, matrix.in, n_cols, width, 0, matrix.n_blocks, words.data());
    const int64_t stride = matrix.out + 1, step = split > 0 ? split : matrix.n_blocks;
    std::vector<float> y(static_cast<size_t>(n_cols * stride), -7.0f);
    for (int64_t p = 0; p < matrix.n_panels; ++p) {
      for (int64_t b = 0; b < matrix.n_blocks; b += step) {
        const uint8_t* records =
            matrix.panel(p) + static_cast<size_t>(b / matrix.shape.blocks) * record_bytes(matrix.shape);
        matrix.multiply({records, static_cast<int32_t>(std::min(step, matrix.n_blocks - b))},
                        words.data() + b * kPackedWords * width, n_cols, y.data() + p * kPanelRows, stride,
                        static_cast<int32_t>(std::min<int64_t>(kPanelRows, matrix.out - p * kPanelRows)), b == 0);
      }
    }
    for (int32_t c = 0; c < n_cols; ++c)
      EXPECT_EQ(y[static_cast<size_t>(c * stride + matrix.out)], -7.0f) << "a row past the end was written";
    return y;
  }
};

class Panels : public ::testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
  std::vector<quant::Format> formats() const {
    std::vector<quant::Format> all;
    for (const quant::Format& f : quant::formats()) {
      if (panel_kernel(set(), f.type) != nullptr) all.push_back(f);
    }
    return all;
  }
  std::vector<float> normals(size_t n) {
    std::vector<float> x(n);
    for (float& v : x) v = normal_(random_);
    return x;
  }
  std::mt19937 random_{23};
  std::normal_distribution<float> normal_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Panels);

// One block to int8 the plain way: 127 steps on either side of zero.
float quantise(const float* x, int32_t* q) {
  float most = 0;
  for (int i = 0; i < kPanelBlock; ++i) most = std::max(most, std::fabs(x[i]));
  const float inverse = most > 0 ? 127.0f / most : 0.0f;
  for (int i = 0; i < kPanelBlock; ++i) q[i] = static_cast<int32_t>(std::nearbyint(x[i] * inverse));
  return most / 127.0f;
}

TEST_P(Panels, packed_activations_equal_a_plain_quantiser_and_know_their_sums) {
  const int64_t n_blocks = 5, in = n_blocks * kPanelBlock;
  for (const int32_t n_cols : {1, 2, 3, 4, 5, 6, 7, 8, 12}) {
    const int32_t width = panel_width(n_cols);
    std::vector<float> x = normals(static_cast<size_t>(n_cols * in));
    std::fill(x.begin(), x.begin() + kPanelBlock, 0.0f);
    std::vector<int32_t> words(static_cast<size_t>(n_blocks * kPackedWords * width), 99);
    set().panels.pack_columns(x.data(), in, n_cols, width, 0, 2, words.data());
    set().panels.pack_columns(x.data(), in, n_cols, width, 2, n_blocks, words.data());
    for (int64_t b = 0; b < n_blocks; ++b) {
      for (int32_t c = 0; c < width; ++c) {
        const auto word = [&](int i) { return words[static_cast<size_t>((b * kPackedWords + i) * width + c)]; };
        int32_t q[kPanelBlock] = {}, sums[2] = {};
        const float scale = c < n_cols ? quantise(x.data() + c * in + b * kPanelBlock, q) : 0.0f;
        for (int i = 0; i < kPanelBlock; ++i) {
          ASSERT_EQ(static_cast<int8_t>(word(i / 4) >> (8 * (i % 4))), q[i]) << "block " << b << " column " << c;
          sums[i / 16] += q[i];
        }
        EXPECT_EQ(std::bit_cast<float>(word(kWordScale)), scale);
        EXPECT_EQ(word(kWordSumFirst), -sums[0]);
        EXPECT_EQ(word(kWordSumSecond), -sums[1]);
        EXPECT_EQ(word(kWordSum), -sums[0] - sums[1]);
        EXPECT_EQ(std::bit_cast<float>(word(kWordSumFloat)), static_cast<float>(-sums[0] - sums[1]));
      }
    }
  }
}

TEST_P(Panels, products_equal_sums_in_double_over_the_rounded_activations) {
  for (const quant::Format& f : formats()) {
    const int64_t block = f.block_elems;
    for (const int64_t in : {block, 2 * block, 3 * block, 1280 / block * block}) {
      for (const int64_t out : {2, 15, 16, 17, 33}) {
        const Matrix m(random_, f, in, out);
        const Packed packed(set(), m.weight);
        for (const int32_t n_cols : {1, 2, 3, 4, 5, 8, 12}) {
          const std::vector<float> x = normals(static_cast<size_t>(n_cols * in)),
                                   y = packed.times(set(), x.data(), n_cols);
          for (int32_t c = 0; c < n_cols; ++c) {
            std::vector<double> rounded;
            for (int64_t k = 0; k < in; k += kPanelBlock) {
              int32_t q[kPanelBlock];
              const double scale = double{quantise(x.data() + c * in + k, q)};
              for (const int32_t v : q) rounded.push_back(scale * v);
            }
            for (int64_t r = 0; r < out; ++r) {
              double sum = 0, size = 0;
              for (int64_t k = 0; k < in; ++k) {
                const double p = double{m.values[static_cast<size_t>(r * in + k)]} * rounded[static_cast<size_t>(k)];
                sum += p;
                size += std::fabs(p);
              }
              // Offsets and minimums cancel: what is rounded may be larger than what is left.
              ASSERT_NEAR(y[static_cast<size_t>(c * (out + 1) + r)], sum, 2e-5 * size + 1e-30)
                  << f.name() << " in " << in << " out " << out << " columns " << n_cols << " at " << c << ',' << r;
            }
          }
        }
      }
    }
  }
}

TEST_P(Panels, a_column_has_the_same_bits_in_any_company_and_in_any_pieces) {
  for (const quant::Format& f : formats()) {
    const int64_t in = 768, out = 33;
    const Matrix m(random_, f, in, out);
    const Packed packed(set(), m.weight);
    const std::vector<float> x = normals(12 * in);
    std::vector<std::vector<float>> alone;
    for (int32_t c = 0; c < 12; ++c) alone.push_back(packed.times(set(), x.data() + c * in, 1));
    for (const int32_t n_cols : {1, 2, 3, 4, 5, 6, 7, 8, 12}) {
      for (const int64_t split : {0, 8, 16}) {
        const std::vector<float> y = packed.times(set(), x.data(), n_cols, split);
        for (int32_t c = 0; c < n_cols; ++c) {
          ASSERT_EQ(std::memcmp(y.data() + c * (out + 1), alone[static_cast<size_t>(c)].data(), out * sizeof(float)), 0)
              << f.name() << " column " << c << " of " << n_cols << " in pieces of " << split << " blocks";
        }
      }
    }
  }
}

TEST_P(Panels, SMP_25_what_is_not_finite_reaches_its_own_results_and_no_others) {
  for (const quant::Format& f : formats()) {
    const int64_t in = 512, out = 18;
    Matrix m(random_, f, in, out);
    const std::vector<float> good = normals(3 * in);
    for (const float bad : {kNan, kInf, -kInf}) {
      const Packed packed(set(), m.weight);
      std::vector<float> x = good;
      x[in + 70] = bad;
      const std::vector<float> y = packed.times(set(), x.data(), 3);
      for (int32_t c = 0; c < 3; ++c) {
        for (int64_t r = 0; r < out; ++r)
          EXPECT_EQ(std::isfinite(y[static_cast<size_t>(c * (out + 1) + r)]), c != 1) << f.name();
      }
    }
    if (f.encode == nullptr) continue;
    std::vector<float> row(in, 0.5f);
    row[100] = kInf;
    f.encode(row.data(), m.bytes.data() + 1 + 17 * row_bytes(f.type, in), in);
    const std::vector<float> y = Packed(set(), m.weight).times(set(), good.data(), 1);
    for (int64_t r = 0; r < out; ++r) EXPECT_EQ(std::isfinite(y[static_cast<size_t>(r)]), r != 17) << f.name();
  }
}

TEST_P(Panels, only_matrices_whose_products_may_round_are_packed) {
  const quant::Format& f = *quant::find_format(DType::q8_0);
  const Matrix m(random_, f, 64, 32);
  EXPECT_NE(plan_panels(set(), m.weight).multiply, nullptr);
  Weight w = m.weight;
  w.table_only = true;
  EXPECT_EQ(plan_panels(set(), w).multiply, nullptr);
  w = m.weight;
  w.exact_activations = true;
  EXPECT_EQ(plan_panels(set(), w).multiply, nullptr);
  w = m.weight;
  w.out = 8, w.n_mats = 4;
  EXPECT_EQ(plan_panels(set(), w).multiply, nullptr);
  w = m.weight;
  w.host.dtype = DType::f16;
  EXPECT_EQ(plan_panels(set(), w).multiply, nullptr);
}

INSTANTIATE_TEST_SUITE_P(AllIsas, Panels, ::testing::ValuesIn(sets_with_panels()),
                         [](const auto& i) { return std::string(i.param->isa); });

}  // namespace
}  // namespace ridge::cpu
