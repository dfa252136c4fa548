// The flags of `ridge bench`: llama-bench's, and a few of Ridge's own.
#pragma once

#include <string>

#include "bench/axes.h"
#include "bench/batched.h"
#include "bench/speed_output.h"
#include "cli.h"

namespace ridge::app {

struct BenchFlags {
  bench::Axes axes;
  int n_repetitions = 5;
  bool warmup = true, use_roofs = true;
  bench::OutputFormat format = bench::OutputFormat::md;
  std::string backend = "cpu", isa;
  bool is_batched = false, is_ops = false;
  bench::BatchedOptions batched;  // -npp -ntg -npl -pps; the rest comes from axes
};
void add_bench_flags(Cli& cli, BenchFlags& flags);
// Errors: invalid_argument (--batched with --ops, lists or formats that they do not take).
Result<void> check_bench_flags(const BenchFlags& flags);

}  // namespace ridge::app
