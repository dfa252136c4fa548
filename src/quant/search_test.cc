// The searches against the reference encoder's errors (golden/quant), against a slow twin in double precision, and for
// what importance has to change.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "base/rng.h"
#include "golden_dir.h"
#include "quant/formats.h"
#include "quant/search.h"

namespace ridge::quant {
namespace {

std::vector<Format> searched() {
  std::vector<Format> list;
  for (const Format& f : formats()) {
    if (f.quantise != nullptr) list.push_back(f);
  }
  return list;
}

class EachSearch : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Table, EachSearch, ::testing::ValuesIn(searched()),
                         [](const auto& p) { return std::string(p.param.name()); });

std::vector<float> noise(size_t n, uint64_t seed, bool heavy_tails) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i) {
    const double a = random_uniform(seed, 0, i, 0), b = random_uniform(seed, 0, i, 1);
    const double laplace = (a < 0.5 ? -1 : 1) * -std::log(1 - b);
    const double normal = std::sqrt(-2 * std::log(1 - b)) * std::cos(2 * M_PI * a);
    x[i] = static_cast<float>(0.02 * (heavy_tails ? laplace : normal));
  }
  return x;
}

std::vector<float> round_trip(const Format& f, const std::vector<float>& x, const float* importance) {
  std::vector<std::byte> blocks(row_bytes(f.type, static_cast<int64_t>(x.size())));
  std::vector<float> out(x.size());
  EXPECT_TRUE(quantise_row(f.type, x.data(), importance, blocks.data(), static_cast<int64_t>(x.size())));
  EXPECT_TRUE(decode_row(f.type, blocks.data(), out.data(), static_cast<int64_t>(x.size())));
  return out;
}

double rmse(const std::vector<float>& a, const std::vector<float>& b, size_t first = 0, size_t step = 1) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = first; i < a.size(); i += step, ++n) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(sum / static_cast<double>(n));
}

TEST_P(EachSearch, has_at_most_the_reference_encoders_error) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const Format& f = GetParam();
  std::vector<float> x(16 * 1024);
  std::ifstream(golden / "quant" / "input.16x1024.f32", std::ios::binary)
      .read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(float)));
  std::ifstream index(golden / "quant" / "index.tsv");
  double reference = 0;
  for (std::string line; std::getline(index, line);) {
    std::istringstream fields(line);
    std::string id, name, elems, bytes;
    double error = 0;
    if (fields >> id >> name >> elems >> bytes >> error && name == f.name()) reference = error;
  }
  ASSERT_GT(reference, 0);
  const double error = rmse(x, round_trip(f, x, nullptr)) * 1e6;
  RecordProperty("ratio_to_reference", std::to_string(error / reference));
  EXPECT_LE(error, 1.0 * reference);
}

TEST_P(EachSearch, is_no_worse_than_rounding_to_nearest_on_noise) {
  const Format& f = GetParam();
  for (const bool heavy : {false, true}) {
    const auto x = noise(64 * 256, 3, heavy);
    std::vector<std::byte> blocks(row_bytes(f.type, static_cast<int64_t>(x.size())));
    std::vector<float> plain(x.size());
    f.encode(x.data(), blocks.data(), static_cast<int64_t>(x.size()));
    f.decode(blocks.data(), plain.data(), static_cast<int64_t>(x.size()));
    EXPECT_LE(rmse(x, round_trip(f, x, nullptr)), 1.0001 * rmse(x, plain));
  }
}

TEST_P(EachSearch, columns_of_importance_are_kept_better) {
  const Format& f = GetParam();
  const auto x = noise(64 * 256, 5, false);
  std::vector<float> importance(x.size());
  for (size_t i = 0; i < x.size(); ++i) importance[i] = i % 4 == 0 ? 100.0f : 1.0f;
  const auto plain = round_trip(f, x, nullptr), informed = round_trip(f, x, importance.data());
  // MXFP4 has only powers of two to choose from.
  EXPECT_LT(rmse(x, informed, 0, 4), (f.type == DType::mxfp4 ? 1.02 : 0.97) * rmse(x, plain, 0, 4));
}

TEST_P(EachSearch, zero_importance_and_equal_importance_are_harmless) {
  const Format& f = GetParam();
  const auto x = noise(256, 6, false);
  const std::vector<float> zeros(256), twos(256, 2.0f);
  for (const float v : round_trip(f, x, zeros.data())) EXPECT_TRUE(std::isfinite(v));
  EXPECT_EQ(round_trip(f, x, twos.data()), round_trip(f, x, nullptr));
}

TEST_P(EachSearch, rows_do_not_depend_on_their_neighbours) {
  const Format& f = GetParam();
  const auto x = noise(512, 7, true);
  const auto both = round_trip(f, x, nullptr);
  const auto second = round_trip(f, {x.begin() + 256, x.end()}, nullptr);
  EXPECT_EQ(std::vector<float>(both.begin() + 256, both.end()), second);
}

// Values at the edge of what floats hold, and blocks of one value, one outlier, one sign.
TEST_P(EachSearch, hard_blocks_stay_finite_and_close) {
  const Format& f = GetParam();
  for (const float scale : {1e-30f, 1e-8f, 1.0f, 1e4f}) {
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<float> x = noise(256, 8, false);
      for (size_t i = 0; i < x.size(); ++i) {
        if (kind == 1) x[i] = 1;
        if (kind == 2) x[i] = i == 17 ? -1.0f : 0.0f;
        if (kind == 3) x[i] = std::fabs(x[i]);
        if (kind == 4) x[i] = -std::fabs(x[i]);
        x[i] *= scale;
      }
      float largest = 0;
      for (const float v : x) largest = std::max(largest, std::fabs(v));
      const auto out = round_trip(f, x, nullptr);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(std::isfinite(out[i])) << kind << " " << scale;
        ASSERT_LE(std::fabs(out[i] - x[i]), 0.7f * largest + 1e-7f) << kind << " " << scale << " element " << i;
      }
    }
  }
}

TEST(Search, an_affine_trial_is_the_least_squares_fit_of_its_integers) {
  for (uint64_t round = 0; round < 200; ++round) {
    const auto x = noise(32, 20 + round, true);
    alignas(16) float w[32];
    search::weigh(x.data(), nullptr, 32, w);
    const auto m = search::moments<32>(x.data(), w);
    const float inverse = 15 / (m.max - m.min);
    const auto a = search::try_affine<32, false>(x.data(), w, m, m.min, inverse, 15);
    double s1 = 0, sq = 0, sqq = 0, sx = 0, sxq = 0;
    for (size_t i = 0; i < 32; ++i) {
      const double q = std::nearbyint(double{(x[i] - m.min) * inverse});
      s1 += w[i], sq += w[i] * q, sqq += w[i] * q * q, sx += double{w[i]} * x[i], sxq += double{w[i]} * x[i] * q;
    }
    const double scale = (s1 * sxq - sx * sq) / (s1 * sqq - sq * sq), offset = (sx - scale * sq) / s1;
    EXPECT_NEAR(a.scale, scale, 1e-3 * std::fabs(scale));
    EXPECT_NEAR(a.offset, offset, 1e-3 * std::fabs(offset) + 1e-5);
  }
}

}  // namespace
}  // namespace ridge::quant
