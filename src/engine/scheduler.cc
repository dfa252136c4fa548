#include "engine/scheduler.h"

#include <algorithm>

namespace ridge {

void Scheduler::admit(int64_t now_ns) {
  while (!waiting_.empty() && static_cast<int32_t>(running_.size()) < max_running_) {
    Sequence& s = *waiting_.front();
    if (!s.stream->cancelled.load(std::memory_order_relaxed)) {
      // The last token of an answer is never fed back, so its position needs no room.
      const int32_t n_positions = std::max(s.n_prompt, s.n_limit - 1);
      if (kv_blocks_for(n_positions) > pool_.n_free()) return;
      s.blocks = BlockTable(pool_, n_positions);
      if (!s.blocks.grow(n_positions)) return;
    }
    s.admitted_ns = now_ns;
    s.book.add(Stage::queue, s.submitted_ns, now_ns);
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void Scheduler::schedule(int64_t now_ns) {
  admit(now_ns);
  int32_t left = n_ubatch_;
  for (const SequencePtr& s : running_) {
    s->step_rows = 0;
    s->step_samples = false;
    if (s->is_decoding() && left > 0) {
      s->step_rows = 1;
      s->step_samples = true;
      --left;
    }
  }
  for (const SequencePtr& s : running_) {
    if (s->is_decoding()) continue;
    s->step_rows = std::min(left, s->n_prompt - s->n_cached);
    s->step_samples = s->step_rows > 0 && s->n_cached + s->step_rows == s->n_prompt && s->n_limit > s->n_prompt;
    left -= s->step_rows;
  }
}

}  // namespace ridge
