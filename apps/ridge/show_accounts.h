// The accounts of a run, as tables and as JSON.
#pragma once

#include <string>

#include "ridge/account.h"
#include "ridge/engine.h"
#include "term.h"

namespace ridge::app {

// Everything that a run measured. `whole` covers the process from its start to the end of the answer.
struct RunAccount {
  TimeBudget whole;
  LoadAccount load;
  RequestAccount request;
  MemoryBook memory;
  ExecutedPath path;
  ModelInfo model;
  std::string finish_reason;
  double write_overlapped_ms = 0;  // writing text while the engine went on computing: not part of the budget
  int n_ctx = 0;
};

// llama.cpp's familiar block of perf lines.
std::string perf_block(const RunAccount& a);
// What ran; time by stage; work by phase with FLOPs, bytes and rates; memory by owner beside what the system says.
std::string account_tables(const RunAccount& a, const Style& style);
// The same as one JSON document; unknown values are null and stand with a reason.
std::string account_json(const RunAccount& a, const std::string& text);

}  // namespace ridge::app
