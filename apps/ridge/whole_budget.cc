#include "whole_budget.h"

#include <algorithm>
#include <cmath>

namespace ridge::app {
namespace {

void add_stages(TimeBudget& whole, const TimeBudget& part) {
  for (const StageTime& s : part.stages) {
    bool merged = false;
    for (StageTime& w : whole.stages) {
      if (w.name == s.name) w.ms += s.ms, w.n += s.n, merged = true;
    }
    if (!merged) whole.stages.push_back(s);
  }
}

}  // namespace

TimeBudget whole_budget(const ProcessStart& start, int64_t end_ns, const TimeBook& main_book, const LoadAccount& load,
                        const RequestAccount& request) {
  TimeBook first;
  if (start.before_ns >= 0) first.add(Stage::process_start, 0, start.before_ns);
  const int64_t elapsed = end_ns - start.main_ns + std::max<int64_t>(0, start.before_ns);
  TimeBudget whole = first.close(elapsed);
  add_stages(whole, load.time);
  add_stages(whole, main_book.close(elapsed));
  add_stages(whole, request.time);
  // In the order in which a run goes through them.
  std::vector<StageTime> ordered;
  for (size_t i = 0; i < kStageCount; ++i) {
    for (StageTime& s : whole.stages) {
      if (s.name == to_string(static_cast<Stage>(i))) ordered.push_back(std::move(s));
    }
  }
  whole.stages = std::move(ordered);
  double sum = 0;
  for (const StageTime& s : whole.stages) sum += s.ms;
  whole.residual_ms = whole.elapsed_ms - sum;
  whole.closes = std::abs(whole.residual_ms) <= std::max(0.2, 0.01 * whole.elapsed_ms);
  return whole;
}

}  // namespace ridge::app
