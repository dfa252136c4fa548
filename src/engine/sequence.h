// A sequence: an accepted request on its way. Owned by the engine thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "account/stages.h"
#include "base/queue.h"
#include "kv/block_table.h"
#include "ridge/engine.h"
#include "sample/chain.h"
#include "text/detokenizer.h"
#include "text/grammar/token_matcher.h"
#include "text/stop_matcher.h"

namespace ridge {

// What the reader's and the engine's side of a request share.
struct EventStream::State {
  explicit State(size_t max_events) : events(max_events) {}
  BoundedQueue<Event> events;
  std::atomic<bool> cancelled{false};
  std::mutex wake_mutex;
  std::function<void()> wake;  // under wake_mutex

  void put(Event event) {
    events.try_push(std::move(event));
    notify();
  }
  void notify() {
    const std::lock_guard lock(wake_mutex);
    if (wake) wake();
  }
  // The reader's own: when the terminal event was put in, so that its wait can be added to the accounts.
  std::atomic<int64_t> terminal_ns{0};
  bool ended = false;
};

struct Sequence {
  Sequence(Request r, std::shared_ptr<EventStream::State> s, sample::SamplerChain c, Detokenizer d, StopMatcher m)
      : request(std::move(r)),
        stream(std::move(s)),
        chain(std::move(c)),
        detokenizer(std::move(d)),
        stops(std::move(m)) {}

  Request request;
  std::shared_ptr<EventStream::State> stream;
  sample::SamplerChain chain;
  Detokenizer detokenizer;
  StopMatcher stops;
  std::unique_ptr<grammar::TokenMatcher> grammar;  // none: the answer is free

  std::vector<int32_t> tokens;  // prompt and answer so far; room for all of it is reserved at submit
  int32_t n_prompt = 0;
  int32_t n_limit = 0;   // most tokens that `tokens` may reach
  int32_t n_cached = 0;  // positions whose keys and values are in the cache
  BlockTable blocks;

  // The rows that the current step gives it.
  int32_t step_rows = 0;
  int stop_idx = -1;          // of the stop string that matched
  bool step_samples = false;  // the last row's logits become a token

  // Books.
  int64_t received_ns = 0, submitted_ns = 0, admitted_ns = 0, first_token_ns = 0;
  int64_t step_own_ns = 0;  // sampling, detokenising and emitting of its own in this step
  TimeBook book;
  PhaseWork prefill, decode;
  std::vector<double> token_ms;

  int32_t n_generated() const { return static_cast<int32_t>(tokens.size()) - n_prompt; }
  bool is_decoding() const { return n_cached >= n_prompt; }
};

using SequencePtr = std::unique_ptr<Sequence>;

}  // namespace ridge
