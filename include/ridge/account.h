// The books of a load and of a request: where the time and the memory went. Plain values, filled by the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ridge {

// One exclusive stage of a time budget.
struct StageTime {
  std::string name;  // a name of src/account/stages.h
  double ms = 0;
  uint64_t n = 0;  // how many spans were added up
};

// Exclusive stages, the elapsed time measured on its own, and what no stage explains. The budget closes when
// |residual| <= max(0.2 ms, 1 % of elapsed).
struct TimeBudget {
  std::vector<StageTime> stages;
  double elapsed_ms = 0;
  double residual_ms = 0;
  bool closes = false;
};

// Work done in one phase, from the verbs' own costs; time is the wall time of the forward passes alone.
struct PhaseWork {
  uint64_t n_tokens = 0;  // rows computed
  uint64_t n_steps = 0;
  double forward_ms = 0;
  double flops = 0;
  double weight_bytes = 0, kv_read_bytes = 0, kv_write_bytes = 0, activation_bytes = 0;
};

struct MemoryLine {
  std::string owner;             // "weights (mapped)", "kv", ...
  std::string detail;            // format or part
  uint64_t predicted_bytes = 0;  // from the file, before loading; 0 where nothing was predicted
  uint64_t current_bytes = 0;
  uint64_t peak_bytes = 0;
};

struct MemoryBook {
  std::vector<MemoryLine> lines;
  uint64_t predicted_bytes = 0, tagged_bytes = 0;
  uint64_t rss_bytes = 0, pss_bytes = 0, anonymous_bytes = 0, file_bytes = 0,
           peak_rss_bytes = 0;  // what the system says; 0 = it does not
};

// What ran, and why it was chosen.
struct ExecutedPath {
  std::string backend, isa, isa_reason;
  int n_threads = 0;
  std::string threads_reason;
  std::string placement_note;        // "" when -ngl was met
  std::vector<std::string> kernels;  // distinct "verb: kernel" lines of a step
};

struct LoadAccount {
  TimeBudget time;
  bool file_was_resident = false;  // every page of the file was in the page cache before loading
  double resident_share = 0;       // share of its pages (mincore)
};

struct RequestAccount {
  TimeBudget time;  // from submit() to the terminal event
  PhaseWork prefill, decode;
  double ttft_ms = 0;            // submit() to the first token's event; 0 when there was none
  std::vector<double> token_ms;  // time from submit() at which each output token was sampled
  uint64_t n_prompt = 0, n_output = 0;
};

}  // namespace ridge
