// The small kernels of every instruction set of this machine against the standard library in double: sizes around the
// vector, any alignment, the whole range of floats.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "backend/cpu/dispatch.h"
#include "quant/formats.h"

namespace ridge::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class SmallKernel : public ::testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
  std::mt19937 random_{3};
  std::normal_distribution<float> normal_;
};

// Distance in units of the last place of the expected float.
double ulps(float found, double expected) {
  const float e = static_cast<float>(expected);
  const double unit =
      std::max<double>(std::nextafter(std::fabs(e), kInf) - std::fabs(e), std::numeric_limits<float>::denorm_min());
  return std::fabs(found - expected) / unit;
}

// Every 1009th float of both signs.
std::vector<float> many_floats() {
  std::vector<float> all;
  for (uint64_t bits = 0; bits < 0x7F800000u; bits += 1009) {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(bits));
    all.push_back(f);
    all.push_back(-f);
  }
  return all;
}

TEST_P(SmallKernel, exp_is_within_an_ulp_over_all_floats) {
  const std::vector<float> x = many_floats();
  std::vector<float> y(x.size());
  set().map.exp(x.data(), 0.0f, y.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(double{x[i]});
    if (expected > std::numeric_limits<float>::max()) {
      if (expected > 3.4028236e38) {
        ASSERT_EQ(y[i], kInf) << x[i];
      }
      continue;
    }
    worst = std::max(worst, ulps(y[i], expected));
    ASSERT_LE(ulps(y[i], expected), 1.25) << x[i] << " gave " << y[i];
  }
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST_P(SmallKernel, exp_of_infinities_and_nan) {
  const float x[] = {kInf, -kInf, kNan, 0.0f, -0.0f, 88.72284f, 88.72283f, -103.97f, -104.5f, 1e30f, -1e30f};
  float y[std::size(x)];
  set().map.exp(x, 0.0f, y, std::size(x));
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1.0f);
  EXPECT_EQ(y[4], 1.0f);
  EXPECT_EQ(y[9], kInf);
  EXPECT_EQ(y[10], 0.0f);
}

using Map1 = void (*)(const float*, float*, int64_t);
struct Function {
  const char* name;
  Map1 kernel;
  double (*truth)(double);
};
std::vector<Function> functions(const MapKernels& m) {
  return {
      {"silu", m.silu, [](double x) { return x / (1 + std::exp(-x)); }},
      {"gelu_tanh", m.gelu_tanh,
       [](double x) { return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); }},
      {"gelu_erf", m.gelu_erf, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"relu", m.relu, [](double x) { return x > 0 ? x : 0.0; }},
      {"sigmoid", m.sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
  };
}

TEST_P(SmallKernel, activations_equal_their_formulas) {
  for (const Function& f : functions(set().map)) {
    std::vector<float> x, y;
    for (float v = -30.0f; v < 30.0f; v += 0.0037f) x.push_back(v);
    y.resize(x.size());
    f.kernel(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = f.truth(double{x[i]});
      // The second term is the error of the normal distribution, which gelu_erf multiplies by x.
      ASSERT_NEAR(y[i], expected, 4e-7 * std::fabs(expected) + 1e-7 * std::fabs(double{x[i]})) << f.name << ' ' << x[i];
    }
  }
}

TEST_P(SmallKernel, softcap_is_relatively_exact_near_zero_and_saturates) {
  const std::vector<float> all = many_floats();
  for (const float cap : {1.0f, 30.0f, 50.0f}) {
    std::vector<float> y(all.size());
    set().map.softcap(all.data(), cap, y.data(), static_cast<int64_t>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      const double expected = cap * std::tanh(double{all[i]} / cap);
      ASSERT_NEAR(y[i], expected, 5e-7 * std::fabs(expected) + 1e-43) << all[i] << " cap " << cap;
    }
  }
}

TEST_P(SmallKernel, nan_goes_through_every_function) {
  for (const Function& f : functions(set().map)) {
    std::vector<float> x(37, 1.0f), y(37);
    for (size_t at = 0; at < x.size(); ++at) {
      x[at] = kNan;
      f.kernel(x.data(), y.data(), static_cast<int64_t>(x.size()));
      EXPECT_TRUE(std::isnan(y[at])) << f.name << " at " << at;
      x[at] = 1.0f;
    }
  }
  float x[3] = {kNan, 1, kNan}, up[3] = {1, kNan, kNan}, y[3];
  set().map.softcap(x, 3.0f, y, 1);
  EXPECT_TRUE(std::isnan(y[0]));
  set().map.swiglu_oai(x, up, 1.7f, 7.0f, y, 3);
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
}

// Every size from 0 to two vectors and one, at every alignment of a float: the same bits as one long row, and nothing
// past the end.
TEST_P(SmallKernel, maps_give_the_same_bits_wherever_a_row_is_cut) {
  const int64_t n = 70;
  std::vector<float> a(n), b(n), whole(n);
  for (int64_t i = 0; i < n; ++i)
    a[static_cast<size_t>(i)] = 3 * normal_(random_), b[static_cast<size_t>(i)] = normal_(random_);
  const MapKernels& m = set().map;
  struct Case {
    const char* name;
    std::function<void(const float*, const float*, float*, int64_t)> run;
  };
  std::vector<Case> all = {
      {"add", [&](const float* x, const float* y, float* o, int64_t k) { m.add(x, y, 0.3f, o, k); }},
      {"mul", [&](const float* x, const float* y, float* o, int64_t k) { m.mul(x, y, o, k); }},
      {"scale", [&](const float* x, const float*, float* o, int64_t k) { m.scale(x, 1.7f, o, k); }},
      {"softcap", [&](const float* x, const float*, float* o, int64_t k) { m.softcap(x, 2.0f, o, k); }},
      {"exp", [&](const float* x, const float*, float* o, int64_t k) { m.exp(x, 1.5f, o, k); }},
      {"swiglu_oai",
       [&](const float* x, const float* y, float* o, int64_t k) { m.swiglu_oai(x, y, 1.702f, 2.0f, o, k); }},
  };
  for (const Function& f : functions(m)) {
    all.push_back({f.name, [f](const float* x, const float*, float* o, int64_t k) { f.kernel(x, o, k); }});
  }
  for (const Case& c : all) {
    c.run(a.data(), b.data(), whole.data(), n);
    for (int64_t from = 0; from < 17; ++from) {
      for (int64_t k = 0; k <= 35; ++k) {
        std::vector<float> out(static_cast<size_t>(k) + 1, 99.0f);
        c.run(a.data() + from, b.data() + from, out.data(), k);
        ASSERT_EQ(std::memcmp(out.data(), whole.data() + from, static_cast<size_t>(k) * sizeof(float)), 0)
            << c.name << ' ' << from << ' ' << k;
        ASSERT_EQ(out.back(), 99.0f) << c.name;
      }
    }
  }
}

TEST_P(SmallKernel, rms_norm_is_exact_to_a_rounding_for_long_rows) {
  for (const int64_t n : {1, 2, 7, 16, 33, 255, 256, 257, 4096, 16387}) {
    std::vector<float> x(static_cast<size_t>(n) + 1), w(static_cast<size_t>(n) + 1),
        y(static_cast<size_t>(n) + 2, 55.0f);
    for (float& v : x) v = normal_(random_) + 3.0f;
    for (float& v : w) v = normal_(random_);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += double{x[static_cast<size_t>(i) + 1]} * x[static_cast<size_t>(i) + 1];
    const double inv = 1 / std::sqrt(sum / static_cast<double>(n) + double{1e-5f});
    set().norm.rms_norm(x.data() + 1, w.data() + 1, y.data() + 1, n, 1e-5f);
    for (size_t i = 1; i <= static_cast<size_t>(n); ++i) {
      ASSERT_NEAR(y[i], x[i] * inv * w[i], 4e-7 * std::fabs(x[i] * inv * w[i]) + 1e-30) << n;
    }
    EXPECT_EQ(y.back(), 55.0f);
    set().norm.rms_norm(x.data() + 1, nullptr, x.data() + 1, n, 1e-5f);
    EXPECT_TRUE(std::isfinite(x[1]));
  }
}

TEST_P(SmallKernel, rope_turns_pairs_of_either_layout) {
  for (int32_t pairs = 0; pairs <= 35; ++pairs) {
    std::vector<float> cos(static_cast<size_t>(pairs)), sin(static_cast<size_t>(pairs));
    for (int32_t i = 0; i < pairs; ++i)
      cos[static_cast<size_t>(i)] = std::cos(0.3f * static_cast<float>(i)),
      sin[static_cast<size_t>(i)] = std::sin(0.3f * static_cast<float>(i));
    for (const bool split : {false, true}) {
      std::vector<float> x(static_cast<size_t>(2 * pairs) + 3);
      for (float& v : x) v = normal_(random_);
      const std::vector<float> before = x;
      (split ? set().rope.split_halves : set().rope.neighbours)(x.data() + 1, cos.data(), sin.data(), pairs);
      for (int32_t i = 0; i < pairs; ++i) {
        const size_t a = static_cast<size_t>(1 + (split ? i : 2 * i)),
                     b = static_cast<size_t>(1 + (split ? i + pairs : 2 * i + 1)), j = static_cast<size_t>(i);
        EXPECT_NEAR(x[a], before[a] * cos[j] - before[b] * sin[j], 1e-6);
        EXPECT_NEAR(x[b], before[a] * sin[j] + before[b] * cos[j], 1e-6);
      }
      EXPECT_EQ(x[0], before[0]);
      EXPECT_EQ(x.back(), before.back());
      EXPECT_EQ(x[x.size() - 2], before[x.size() - 2]);
    }
  }
}

TEST_P(SmallKernel, halves_are_encoded_as_quant_does) {
  if (set().map.encode_f16 == nullptr) GTEST_SKIP() << "this set leaves encoding to quant";
  std::vector<float> x = many_floats();
  for (const float f :
       {kInf, -kInf, kNan, -kNan, std::bit_cast<float>(0x7F812345u), 65504.0f, 65519.9f, 65520.0f, 5.9e-8f, 2.98e-8f})
    x.push_back(f);
  for (const DType type : {DType::f16, DType::bf16}) {
    const auto kernel = type == DType::f16 ? set().map.encode_f16 : set().map.encode_bf16;
    std::vector<std::byte> expected(x.size() * 2), found(x.size() * 2);
    quant::find_format(type)->encode(x.data(), expected.data(), static_cast<int64_t>(x.size()));
    kernel(x.data(), reinterpret_cast<uint8_t*>(found.data()), static_cast<int64_t>(x.size()));
    EXPECT_EQ(expected, found) << info(type).name;
    for (int64_t n = 0; n <= 35; ++n) {
      std::vector<std::byte> part(static_cast<size_t>(2 * n + 2), std::byte{9});
      kernel(x.data() + 12345, reinterpret_cast<uint8_t*>(part.data()) + 1, n);
      EXPECT_EQ(std::memcmp(part.data() + 1, expected.data() + 2 * 12345, static_cast<size_t>(2 * n)), 0);
      EXPECT_EQ(part.back(), std::byte{9});
      EXPECT_EQ(part.front(), std::byte{9});
    }
  }
}

TEST_P(SmallKernel, softmax_block_cannot_see_outside_its_range) {
  for (int32_t begin = 0; begin < 32; begin += 5) {
    for (int32_t end = begin + 1; end <= 32; ++end) {
      float scores[32];
      for (int32_t j = 0; j < 32; ++j) scores[j] = j >= begin && j < end ? normal_(random_) : kNan;
      float raw[32];
      std::memcpy(raw, scores, sizeof raw);
      SoftmaxState state = {-kInf, 0.0f};
      const float decay = set().attention.softmax_block(scores, begin, end, {0.5f, 0.0f}, &state);
      EXPECT_EQ(decay, 0.0f);
      double sum = 0;
      for (int32_t j = 0; j < 32; ++j) {
        if (j < begin || j >= end) {
          ASSERT_EQ(scores[j], 0.0f);
          continue;
        }
        EXPECT_NEAR(scores[j], std::exp(0.5 * raw[j] - double{state.m}), 3e-7);
        sum += scores[j];
      }
      EXPECT_NEAR(state.l, sum, 1e-5);
    }
  }
}

TEST_P(SmallKernel, add_values_gives_the_same_bits_for_one_row_and_many) {
  for (const int32_t dim : {1, 7, 8, 20, 64, 80, 128, 129}) {
    const int32_t rows = 11;
    std::vector<float> p(rows * 32), decay(rows), v(static_cast<size_t>(32 * (dim + 3))),
        start(static_cast<size_t>(rows * dim));
    for (auto* all : {&p, &decay, &v, &start}) {
      for (float& f : *all) f = normal_(random_);
    }
    std::vector<float> together = start, alone = start;
    set().attention.add_values(p.data(), decay.data(), rows, v.data(), dim + 3, 3, 29, dim, together.data());
    for (int32_t r = 0; r < rows; ++r) {
      set().attention.add_values(p.data() + r * 32, &decay[static_cast<size_t>(r)], 1, v.data(), dim + 3, 3, 29, dim,
                                 alone.data() + r * dim);
    }
    EXPECT_EQ(together, alone) << dim;
    double expected = double{start[0]} * decay[0];
    for (int32_t j = 3; j < 29; ++j)
      expected += double{p[static_cast<size_t>(j)]} * v[static_cast<size_t>(j * (dim + 3))];
    EXPECT_NEAR(together[0], expected, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(AllIsas, SmallKernel, ::testing::ValuesIn(available_kernels()),
                         [](const auto& i) { return std::string(i.param->isa); });

}  // namespace
}  // namespace ridge::cpu
