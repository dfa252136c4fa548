// Stages of a time budget and the book that adds them up. Stages are exclusive: spans of one book never overlap, so
// that their sum can be compared with the elapsed time, measured on its own; what is left over is the residual, always
// shown.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "ridge/account.h"

namespace ridge {

enum class Stage : uint8_t {
  process_start,  // exec to main, as the kernel recorded it
  arguments,      // reading options
  open_file,      // open and map
  read_metadata,  // GGUF header, keys, tensor table
  load_tokenizer,
  load_template,
  forecast,         // predicting memory
  start_device,     // threads, instruction set
  bind_weights,     // names and shapes checked
  prepare_weights,  // copies in another layout
  allocate_kv,
  allocate_activations,
  start_engine,
  parse,            // a request's text to its fields
  render_template,  // messages to text
  tokenise,
  grammar_compile,  // a constraint to its automaton, where it was not kept from before
  submit,           // checking a request and handing it over
  queue,            // waiting for admission
  schedule,         // choosing a step's rows
  prefill,          // forward passes that hold prompt rows
  decode,           // forward passes of one row a sequence
  grammar_mask,     // which tokens a constraint allows, and its step over the one chosen
  sample,
  detokenise,   // ids to text, stop strings
  emit,         // handing events over
  deliver,      // last event waiting for its reader
  wait_others,  // steps that other sequences used
  write,        // text to the terminal or file
  report,       // printing the accounts
};
inline constexpr size_t kStageCount = static_cast<size_t>(Stage::report) + 1;
std::string_view to_string(Stage stage);

// Adds up spans. One thread at a time.
class TimeBook {
 public:
  void add(Stage stage, int64_t start_ns, int64_t end_ns) {
    Entry& e = entries_[static_cast<size_t>(stage)];
    e.ns += end_ns - start_ns;
    ++e.n;
  }
  void add(const TimeBook& other) {
    for (size_t i = 0; i < kStageCount; ++i) {
      entries_[i].ns += other.entries_[i].ns;
      entries_[i].n += other.entries_[i].n;
    }
  }
  // Only stages that have a span appear, in the order of Stage.
  TimeBudget close(int64_t elapsed_ns) const;

 private:
  struct Entry {
    int64_t ns = 0;
    uint64_t n = 0;
  };
  std::array<Entry, kStageCount> entries_{};
};

// Adds the time from its construction to stop() or destruction.
class ScopedSpan {
 public:
  ScopedSpan(TimeBook& book, Stage stage) : book_(&book), stage_(stage), start_ns_(now_ns()) {}
  ~ScopedSpan() { stop(); }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;
  void stop() {
    if (book_ != nullptr) book_->add(stage_, start_ns_, now_ns());
    book_ = nullptr;
  }

 private:
  TimeBook* book_;
  Stage stage_;
  int64_t start_ns_;
};

}  // namespace ridge
