// `ridge bench --ops`: where a step's time goes, verb by verb: time, bytes, operations, the roof that bounds each, and
// what it loses against it. The whole step runs as ever, and the device times each verb, so caches and threads are in
// the state that they have in a real step. One thread.
#pragma once

#include <string>
#include <vector>

#include "bench/rig.h"

namespace ridge::bench {

struct OpsOptions {
  RigOptions rig;
  int n_prompt = 512, n_gen = 16, n_depth = 0;
  int n_batch = 2048, n_ubatch = 512, n_repetitions = 5;
  std::string type_k = "f16", type_v = "f16";
};

// One label of the model ("ffn_down") with one kernel, summed over its layers; medians over repetitions of a step.
struct OpRow {
  std::string phase;  // "prefill" (a step of n_ubatch rows at most) or "decode" (one row)
  std::string verb, label, kernel;
  int n_calls = 0;     // a step
  Traffic cost;        // a step
  double seconds = 0;  // a step
  // What the roofs say that it takes at least: the larger of reading and computing. Null where a roof is unknown.
  std::optional<double> ideal_s;
  std::string bound;  // "read", "int8", "bf16", "f32"; "" where unknown
};

struct OpsReport {
  std::vector<OpRow> rows;                       // by phase, the costliest first
  double prefill_step_s = 0, decode_step_s = 0;  // medians of the whole step, measured on its own
  int prefill_rows = 0;
  int n_threads = 0;
  std::string isa;
  ModelInfo model;
};
// Errors: those of Rig.
Result<OpsReport> run_ops(const OpsOptions& options, const Ceilings* ceilings);

std::string ops_table(const OpsReport& report);
std::string ops_json(const OpsReport& report);

}  // namespace ridge::bench
