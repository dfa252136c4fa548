#include "account/stages.h"

#include <algorithm>
#include <cmath>

namespace ridge {

std::string_view to_string(Stage stage) {
  static constexpr std::string_view kNames[kStageCount] = {
      "process_start", "arguments",    "open_file",       "read_metadata",   "load_tokenizer",  "load_template",
      "forecast",      "start_device", "bind_weights",    "prepare_weights", "allocate_kv",     "allocate_activations",
      "start_engine",  "parse",        "render_template", "tokenise",        "grammar_compile", "submit",
      "queue",         "schedule",     "prefill",         "decode",          "grammar_mask",    "sample",
      "detokenise",    "emit",         "deliver",         "wait_others",     "write",           "report"};
  return kNames[static_cast<size_t>(stage)];
}

TimeBudget TimeBook::close(int64_t elapsed_ns) const {
  TimeBudget budget;
  int64_t sum = 0;
  for (size_t i = 0; i < kStageCount; ++i) {
    if (entries_[i].n == 0) continue;
    budget.stages.push_back({std::string(to_string(static_cast<Stage>(i))), ms_from_ns(entries_[i].ns), entries_[i].n});
    sum += entries_[i].ns;
  }
  budget.elapsed_ms = ms_from_ns(elapsed_ns);
  budget.residual_ms = ms_from_ns(elapsed_ns - sum);
  budget.closes = std::abs(budget.residual_ms) <= std::max(0.2, 0.01 * budget.elapsed_ms);
  return budget;
}

}  // namespace ridge
