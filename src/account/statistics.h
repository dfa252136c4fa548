// Statistics of samples, without interpolation: every figure shown is one that was observed, or says how many samples
// it lacks. Owns nothing; any thread. Samples are finite (assert); units are the caller's.
// Source: the nearest-rank definition of percentiles; MLPerf's early-stopping rule for the floors; the binomial
// interval of order statistics for the median (distribution-free, so it holds for skewed times too).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ridge {

// A copy in ascending order: what the functions below take as `sorted`.
std::vector<double> sorted_samples(std::span<const double> samples);

// sorted[ceil(q n) - 1]; q in (0, 1]; at least one sample.
double nearest_rank(std::span<const double> sorted, double q);

// How many independent samples a percentile needs before it is shown: the smallest n for which a system whose true
// q-quantile lies higher would with 99 % confidence have given more than one sample above. 11 for p50, 64 for p90, 130
// for p95, 662 for p99. The maximum (q = 1) claims nothing about others and needs one.
size_t samples_needed(double q);

// A percentile that is null where samples are too few; need_n says how many it takes.
struct Percentile {
  double q = 0;
  std::optional<double> value;
  size_t n = 0, need_n = 0;
};
Percentile percentile(std::span<const double> sorted, double q);

// lower <= true median <= upper with at least the confidence asked for; both are observed samples.
struct Interval {
  double lower = 0, upper = 0;
};
// nullopt where n is too small for any such interval (95 % needs 6 samples).
std::optional<Interval> median_interval(std::span<const double> sorted, double confidence = 0.95);

// Shown together, so that a mean never stands without its n and spread.
struct Summary {
  size_t n = 0;
  double mean = 0, median = 0, min = 0, max = 0;
  std::optional<double> stdev;  // of a sample (n - 1); null for one
  std::optional<Interval> median_95;
};
// nullopt for no samples. The median is nearest-rank: the lower of the two middle ones when n is even.
std::optional<Summary> summarise(std::span<const double> samples);

}  // namespace ridge
