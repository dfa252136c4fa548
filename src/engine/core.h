// The engine's thread: owns runner, scheduler and sequences; everything else talks to it through the inbox and the
// event streams.
//
// GUARD (core.cc). step() is schedule -> forward -> sample -> commit and stays that short. What decides belongs to
// scheduler.cc, what computes to runner.cc, what a sampler does to sample/. No request field is looked at here that
// does not change one of the four.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/queue.h"
#include "engine/runner.h"
#include "engine/scheduler.h"
#include "text/tokenizer.h"

namespace ridge {

class EngineCore {
 public:
  EngineCore(std::unique_ptr<Runner> runner, const Tokenizer& tokenizer, int32_t max_parallel, size_t max_queue);
  ~EngineCore();  // ends what runs as cancelled and joins the thread
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;

  void start();
  // Any thread. False when as many requests as may run and wait are already here; `sequence` is then untouched.
  bool submit(SequencePtr&& sequence);
  size_t capacity() const { return capacity_; }
  EngineStats stats() const;

 private:
  void loop();
  void drain_inbox();
  void step();
  Result<MatrixView<const float>> forward();
  void charge_forward(int64_t start_ns, int64_t end_ns);
  struct Ending {
    FinishReason reason = FinishReason::end_of_generation;
    std::string text = {}, stop_string = {};
  };
  Result<std::optional<Ending>> sample(Sequence& s, std::span<const float> logits);
  static std::string push_text(Sequence& s, std::string_view text);
  static Ending finish_text(Sequence& s, bool is_end);
  void end(SequencePtr& s, Ending ending);
  void end(SequencePtr& s, Error error);
  void send_terminal(SequencePtr& s, Event event);
  void drop_cancelled();
  static RequestAccount close_books(Sequence& s);
  void publish_stats();

  std::unique_ptr<Runner> runner_;
  const Tokenizer& tokenizer_;
  size_t capacity_;  // requests accepted and not ended
  std::atomic<size_t> n_accepted_{0};
  std::atomic<int32_t> n_running_{0}, n_blocks_free_{0};
  std::atomic<uint64_t> n_steps_{0}, n_step_sequences_{0};
  int32_t n_blocks_ = 0;
  BoundedQueue<SequencePtr> inbox_;
  Scheduler scheduler_;
  std::vector<Slice> slices_;
  std::vector<int32_t> out_rows_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace ridge
