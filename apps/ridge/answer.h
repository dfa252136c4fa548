// Reading one answer from an engine and writing it as it comes; Ctrl-C stops the answer.
#pragma once

#include <functional>
#include <string>

#include "account/stages.h"
#include "command.h"
#include "ridge/engine.h"

namespace ridge::app {

struct Answer {
  std::string text;
  std::vector<int32_t> ids;
  FinishReason reason = FinishReason::end_of_generation;
  RequestAccount account;
  uint64_t seed = 0;
  double write_overlapped_ms = 0;  // writing while the engine went on computing
  bool interrupted = false;
};

// Submits and writes the text to standard output as it arrives. write_book gets the writing after the last event.
// Errors: those of submit, and what made the request fail.
Result<Answer> stream_answer(Engine& engine, Request request, TimeBook& write_book);

// "loading: bind_weights 90 %" on a terminal's standard error, wiped when done; nothing in a pipe.
std::function<void(std::string_view, double)> load_progress();

}  // namespace ridge::app
