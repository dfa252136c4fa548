// Decides what a step works on: decode rows first, then prompt rows of the oldest sequences within n_ubatch.
// Admission is by KV blocks: a sequence is admitted when the blocks of its whole possible length are free, so a running
// sequence never lacks one. First come, first served. Engine thread only.
#pragma once

#include <deque>
#include <vector>

#include "engine/sequence.h"
#include "kv/block_pool.h"

namespace ridge {

class Scheduler {
 public:
  Scheduler(BlockPool& pool, int32_t n_ubatch, int32_t max_running)
      : pool_(pool), n_ubatch_(n_ubatch), max_running_(max_running) {}

  void enqueue(SequencePtr s) { waiting_.push_back(std::move(s)); }
  bool idle() const { return waiting_.empty() && running_.empty(); }
  size_t n_waiting() const { return waiting_.size(); }

  // Admits what fits, then sets step_rows and step_samples of each running sequence. now_ns stamps the admission.
  void schedule(int64_t now_ns);

  std::vector<SequencePtr>& running() { return running_; }
  std::deque<SequencePtr>& waiting() { return waiting_; }

 private:
  void admit(int64_t now_ns);

  BlockPool& pool_;
  int32_t n_ubatch_, max_running_;
  std::deque<SequencePtr> waiting_;
  std::vector<SequencePtr> running_;
};

}  // namespace ridge
