#include "engine/core.h"

#include <pthread.h>

#include <algorithm>

namespace ridge {

EngineCore::EngineCore(std::unique_ptr<Runner> runner, const Tokenizer& tokenizer, int32_t max_parallel,
                       size_t max_queue)
    : runner_(std::move(runner)),
      tokenizer_(tokenizer),
      capacity_(max_queue + static_cast<size_t>(max_parallel)),
      inbox_(capacity_),
      scheduler_(runner_->pool(), runner_->options().n_ubatch, max_parallel) {
  slices_.reserve(static_cast<size_t>(max_parallel));
  out_rows_.reserve(static_cast<size_t>(max_parallel));
  n_blocks_ = runner_->pool().n_blocks();
  n_blocks_free_ = runner_->pool().n_free();
}

EngineCore::~EngineCore() {
  stopping_ = true;
  inbox_.close();
  if (thread_.joinable()) thread_.join();
}

bool EngineCore::submit(SequencePtr&& sequence) {
  if (n_accepted_.fetch_add(1) < capacity_ && inbox_.try_push(std::move(sequence))) return true;
  --n_accepted_;
  return false;
}

EngineStats EngineCore::stats() const {
  const int32_t running = n_running_;
  return {.n_running = running,
          .n_waiting = std::max(0, static_cast<int32_t>(n_accepted_) - running),
          .n_kv_blocks = n_blocks_,
          .n_kv_blocks_free = n_blocks_free_,
          .n_steps = n_steps_,
          .n_step_sequences = n_step_sequences_};
}

void EngineCore::publish_stats() {
  n_running_.store(static_cast<int32_t>(scheduler_.running().size()), std::memory_order_relaxed);
  n_blocks_free_.store(runner_->pool().n_free(), std::memory_order_relaxed);
}

void EngineCore::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "ridge-engine");
    loop();
  });
}

void EngineCore::loop() {
  while (!stopping_) {
    drain_inbox();
    drop_cancelled();
    if (!scheduler_.idle()) step();
    publish_stats();
  }
  drain_inbox();
  for (SequencePtr& s : scheduler_.running()) end(s, Ending{.reason = FinishReason::cancelled});
  for (SequencePtr& s : scheduler_.waiting()) end(s, Ending{.reason = FinishReason::cancelled});
  scheduler_.running().clear();
  scheduler_.waiting().clear();
}

// Sleeps only when there is nothing to compute.
void EngineCore::drain_inbox() {
  if (scheduler_.idle() && !stopping_) {
    if (auto first = inbox_.pop()) scheduler_.enqueue(std::move(*first));
  }
  while (auto next = inbox_.try_pop()) scheduler_.enqueue(std::move(*next));
}

void EngineCore::drop_cancelled() {
  const auto sweep = [this](auto& sequences) {
    for (SequencePtr& s : sequences) {
      if (s->stream->cancelled.load(std::memory_order_relaxed)) end(s, Ending{.reason = FinishReason::cancelled});
    }
    std::erase_if(sequences, [](const SequencePtr& s) { return s == nullptr; });
  };
  sweep(scheduler_.running());
  sweep(scheduler_.waiting());
}

void EngineCore::step() {
  const int64_t start_ns = now_ns();
  scheduler_.schedule(start_ns);
  const int64_t scheduled_ns = now_ns();
  publish_stats();
  auto logits = forward();
  const int64_t computed_ns = now_ns();
  charge_forward(scheduled_ns, computed_ns);

  size_t out_row = 0;
  for (SequencePtr& s : scheduler_.running()) {
    s->book.add(Stage::schedule, std::max(start_ns, s->admitted_ns), scheduled_ns);
    s->step_own_ns = 0;
    if (!logits) {
      end(s, logits.error());
      continue;
    }
    s->n_cached += s->step_rows;
    if (s->step_samples) {
      const float* row = logits->row(static_cast<int64_t>(out_row++));
      auto ending = sample(*s, {row, static_cast<size_t>(logits->cols)});
      if (!ending) {
        end(s, ending.error());
      } else if (*ending) {
        end(s, std::move(**ending));
      }
    } else if (s->n_cached == s->n_limit) {  // a request for no tokens: the prompt is computed, and that is all
      end(s, Ending{.reason = FinishReason::max_tokens});
    }
  }
  std::erase_if(scheduler_.running(), [](const SequencePtr& s) { return s == nullptr; });
  // With others in the batch, their sampling delays this sequence's next step.
  const int64_t end_ns = now_ns();
  if (scheduler_.running().size() > 1) {
    for (const SequencePtr& s : scheduler_.running())
      s->book.add(Stage::wait_others, computed_ns, end_ns - s->step_own_ns);
  }
}

Result<MatrixView<const float>> EngineCore::forward() {
  slices_.clear();
  out_rows_.clear();
  int32_t row = 0;
  for (const SequencePtr& s : scheduler_.running()) {
    if (s->step_rows == 0) continue;
    slices_.push_back(
        {.tokens = std::span(s->tokens).subspan(static_cast<size_t>(s->n_cached), static_cast<size_t>(s->step_rows)),
         .pos0 = s->n_cached,
         .blocks = s->blocks.blocks()});
    row += s->step_rows;
    if (s->step_samples) out_rows_.push_back(row - 1);
  }
  ++n_steps_;
  n_step_sequences_ += slices_.size();
  return runner_->forward(slices_, out_rows_);
}

// The step's time is every participant's time; its work is shared out by rows.
void EngineCore::charge_forward(int64_t start_ns, int64_t end_ns) {
  const Traffic total = runner_->program().total();
  int32_t rows = 0;
  for (const Slice& s : slices_) rows += static_cast<int32_t>(s.tokens.size());
  for (const SequencePtr& s : scheduler_.running()) {
    if (s->step_rows == 0) {
      s->book.add(Stage::wait_others, start_ns, end_ns);
      continue;
    }
    const bool decoding = s->is_decoding();
    s->book.add(decoding ? Stage::decode : Stage::prefill, start_ns, end_ns);
    PhaseWork& work = decoding ? s->decode : s->prefill;
    const double share = static_cast<double>(s->step_rows) / rows;
    work.n_tokens += static_cast<uint64_t>(s->step_rows);
    ++work.n_steps;
    work.forward_ms += ms_from_ns(end_ns - start_ns);
    work.flops += total.flops * share;
    work.weight_bytes += total.weight_bytes * share;
    work.kv_read_bytes += total.kv_read_bytes * share;
    work.kv_write_bytes += total.kv_write_bytes * share;
    work.activation_bytes += total.activation_bytes * share;
  }
}

// sample -> commit for one sequence: a token, its text, its event, and whether the answer ends with it.
Result<std::optional<EngineCore::Ending>> EngineCore::sample(Sequence& s, std::span<const float> logits) {
  const int64_t t0 = now_ns();
  std::span<const uint32_t> allowed;
  if (s.grammar != nullptr) {
    RIDGE_TRY(allowed, s.grammar->mask());
  }
  const int64_t masked = now_ns();
  RIDGE_TRY(const sample::SampleResult chosen,
            s.chain.sample(logits, 0, static_cast<uint64_t>(s.tokens.size()), allowed));
  s.chain.accept(chosen.token);
  s.tokens.push_back(chosen.token);
  const int64_t sampled = now_ns();
  s.book.add(Stage::sample, masked, sampled);
  bool is_end = tokenizer_.is_eog(chosen.token);
  if (s.grammar != nullptr) {
    if (!s.grammar->accept(chosen.token))
      return fail(ErrorCode::internal, "token {} was chosen against the grammar", chosen.token);
    // Nothing more may follow: the model's own end token would cost another forward pass.
    is_end = is_end || s.grammar->must_end();
    s.book.add(Stage::grammar_mask, t0, masked);
    s.book.add(Stage::grammar_mask, sampled, now_ns());
  }
  const int64_t t1 = now_ns();
  if (s.first_token_ns == 0) s.first_token_ns = t1;
  s.token_ms.push_back(ms_from_ns(t1 - s.received_ns));

  TokenEvent event{.id = chosen.token,
                   .text = {},
                   .logprob = chosen.logprob,
                   .top = {},
                   .prompt_ms = ms_from_ns(s.first_token_ns - s.admitted_ns),
                   .predicted_ms = ms_from_ns(t1 - s.first_token_ns)};
  for (const sample::TokenLogprob& t : chosen.top) event.top.push_back({t.token, t.logprob});
  if (!tokenizer_.is_eog(chosen.token) || s.request.show_special)
    event.text = push_text(s, s.detokenizer.push(chosen.token));
  std::optional<Ending> ending;
  if (s.stops.stopped() || is_end || static_cast<int32_t>(s.tokens.size()) >= s.n_limit)
    ending = finish_text(s, is_end);
  const int64_t t2 = now_ns();
  s.book.add(Stage::detokenise, t1, t2);

  s.stream->put(Event(std::move(event)));
  const int64_t t3 = now_ns();
  s.book.add(Stage::emit, t2, t3);
  s.step_own_ns = t3 - t0;
  return ending;
}

std::string EngineCore::push_text(Sequence& s, std::string_view text) {
  StopMatcher::Step step = s.stops.push(text);
  if (step.stopped >= 0) s.stop_idx = step.stopped;
  return std::move(step.text);
}

// Flushes what was held back; the flush itself may still complete a stop string.
EngineCore::Ending EngineCore::finish_text(Sequence& s, bool is_end) {
  Ending ending;
  if (!s.stops.stopped()) ending.text = push_text(s, s.detokenizer.finish());
  if (s.stops.stopped()) {
    ending.reason = FinishReason::stop_string;
    ending.stop_string = s.request.stop[static_cast<size_t>(s.stop_idx)];
    return ending;
  }
  ending.text += s.stops.finish();
  const bool by_request = s.request.max_tokens >= 0 && s.n_generated() >= s.request.max_tokens;
  ending.reason = is_end       ? FinishReason::end_of_generation
                  : by_request ? FinishReason::max_tokens
                               : FinishReason::context_full;
  return ending;
}

RequestAccount EngineCore::close_books(Sequence& s) {
  if (s.admitted_ns == 0) s.book.add(Stage::queue, s.submitted_ns, now_ns());
  RequestAccount a;
  a.prefill = s.prefill;
  a.decode = s.decode;
  a.token_ms = std::move(s.token_ms);
  a.ttft_ms = s.first_token_ns > 0 ? ms_from_ns(s.first_token_ns - s.received_ns) : 0;
  a.n_prompt = static_cast<uint64_t>(s.n_prompt);
  a.n_output = static_cast<uint64_t>(s.n_generated());
  a.time = s.book.close(now_ns() - s.received_ns);
  return a;
}

void EngineCore::end(SequencePtr& s, Ending ending) {
  if (s == nullptr) return;
  Finished f{.reason = ending.reason,
             .text = std::move(ending.text),
             .stop_string = std::move(ending.stop_string),
             .seed = s->request.sampling.seed.value_or(0),
             .account = close_books(*s)};
  send_terminal(s, std::move(f));
}

void EngineCore::end(SequencePtr& s, Error error) {
  if (s == nullptr) return;
  Failed f{.error = std::move(error), .account = close_books(*s)};
  send_terminal(s, std::move(f));
}

void EngineCore::send_terminal(SequencePtr& s, Event event) {
  s->blocks.release();
  s->stream->terminal_ns = now_ns();
  // The next request may be accepted as soon as the reader knows that this one has ended.
  --n_accepted_;
  s->stream->events.try_push(std::move(event));
  s->stream->events.close();
  s->stream->notify();
  s.reset();
}

}  // namespace ridge
