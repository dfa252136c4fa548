// The work of `ridge logits`: a prompt through a runner step by step, a greedy continuation, and the line that reports
// both.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "backend/device.h"
#include "engine/runner.h"

namespace ridge::app {

struct LogitsJob {
  std::vector<int32_t> tokens;
  int n_greedy = 0, n_top = 10;
  std::string out_path;
};

struct LogitsResult {
  std::vector<float> last;  // of the last position of the prompt
  std::vector<int32_t> greedy;
};

// Runs the prompt in steps of the runner's n_ubatch; `out` gets the logits of every position as f32, nullptr: none.
Result<LogitsResult> evaluate(const LogitsJob& job, Runner& runner, std::ofstream* out);
// One line of JSON.
std::string as_json(const LogitsJob& job, const LogitsResult& r, const DeviceInfo& device);

}  // namespace ridge::app
