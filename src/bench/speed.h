// `ridge bench`: each case warmed up, run several times, and what that means against the roofs. The timing is that of
// llama-bench (forward passes only; a prompt, generation, or both in one), so that the two tables can be laid side by
// side. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "account/statistics.h"
#include "bench/axes.h"
#include "bench/rig.h"

namespace ridge::bench {

// What stands in every row about the file.
struct ModelFacts {
  std::string filename, type;  // type: "llama 7B Q4_K - Medium"
  uint64_t n_bytes = 0, n_params = 0;
  bool is_synthetic = false;  // weights of `ridge synth`: speed only
};

struct SpeedResult {
  Case what;
  ModelFacts model;
  int n_threads = 0;
  std::string backend, isa;
  std::vector<std::string> kernels;
  std::string test_time;  // UTC
  std::vector<int64_t> samples_ns;
  Work prompt, gen;        // of one repetition, by phase
  int64_t warmup_ns = 0;   // 0: none was made
  Share read, arithmetic;  // of the median repetition
  Roofs roofs;

  int n_tokens() const { return what.n_prompt + what.n_gen; }
  std::vector<double> samples_ts() const;  // tokens/s
  double median_s() const;
  Work total() const;
};

struct SpeedOptions {
  RigOptions rig;  // model_path and n_threads come from the case
  int n_repetitions = 5;
  bool warmup = true;
  // Rates of this machine; nullptr: shares are null for `no_roofs_reason`.
  const Ceilings* ceilings = nullptr;
  std::string no_roofs_reason;
  std::function<void(const SpeedResult&)> on_result;
};

// Runs the cases in order, opening a model when it or the number of threads changes. A case that fails ends the run:
// what is done has been handed to on_result.
Result<void> run_speed(std::span<const Case> cases, const SpeedOptions& options);

// "qwen2 1.5B Q4_K - Medium", as llama.cpp names models: architecture, size, file type.
std::string model_type(const LoadedModel& loaded);
// "2026-01-31T12:00:00Z"
std::string utc_time();

}  // namespace ridge::bench
