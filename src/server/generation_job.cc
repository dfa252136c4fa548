#include "server/generation_job.h"

#include <chrono>
#include <cmath>
#include <optional>

#include "base/result.h"

namespace ridge::server {
namespace {

const char* reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::end_of_generation:
    case FinishReason::stop_string:
      return "stop";
    case FinishReason::max_tokens:
    case FinishReason::context_full:
      return "length";
    case FinishReason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

class GenerationJob final : public Job {
 public:
  GenerationJob(ServerContext& context, const HttpRequest& request, std::string id, const GenerationPlan& plan,
                std::vector<EventStream> streams, uint64_t n_prompt)
      : context_(context),
        id_(std::move(id)),
        endpoint_(plan.endpoint),
        generation_(plan.generation),
        book_(plan.book),
        received_ns_(request.received_ns),
        streams_(std::move(streams)),
        live_(context.enter(n_prompt, plan.generation)) {}

  ~GenerationJob() override { context_.leave(*live_); }
  GenerationJob(const GenerationJob&) = delete;
  GenerationJob& operator=(const GenerationJob&) = delete;

  void set_writer(std::unique_ptr<api::AnswerWriter> writer) { writer_ = std::move(writer); }

  // The engine's books are of submit() to the last event; before and after them stands what happened here.
  TimeBudget whole_budget(const RequestAccount& a) const {
    TimeBudget whole = book_.close(now_ns() - received_ns_);
    whole.stages.insert(whole.stages.end(), a.time.stages.begin(), a.time.stages.end());
    double sum = 0;
    for (const StageTime& s : whole.stages) sum += s.ms;
    whole.residual_ms = whole.elapsed_ms - sum;
    whole.closes = std::abs(whole.residual_ms) <= std::max(0.2, 0.01 * whole.elapsed_ms);
    return whole;
  }

  bool streams() const override { return generation_.stream; }
  int status() const override { return writer_->status(); }
  std::vector<std::pair<std::string, std::string>> headers() const override { return {{"X-Request-Id", id_}}; }

  Part poll() override {
    Part part;
    if (!begun_) part.bytes = writer_->begin();
    begun_ = true;
    size_t n_ended = 0;
    for (size_t i = 0; i < streams_.size(); ++i) {
      while (auto event = streams_[i].try_next()) part.bytes += take(i, *event);
      n_ended += streams_[i].ended() ? 1 : 0;
    }
    if (n_ended == streams_.size()) {
      part.bytes += writer_->end();
      part.done = true;
      last_.status = status();
      context_.accounts.keep(std::move(last_));
    }
    return part;
  }

  void on_event(std::function<void()> wake) override {
    for (EventStream& s : streams_) s.on_event(wake);
  }

  void cancel() override {
    for (EventStream& s : streams_) s.cancel();
  }

 private:
  std::string take(size_t i, const Event& event) {
    if (const auto* token = std::get_if<TokenEvent>(&event)) {
      live_->n_decoded.fetch_add(1, std::memory_order_relaxed);
      return writer_->token(i, *token);
    }
    const double e2e_s = static_cast<double>(now_ns() - received_ns_) * 1e-9;
    if (const auto* failed = std::get_if<Failed>(&event)) {
      close(failed->account, "error", e2e_s);
      return writer_->failed(i, api::refusal_of(failed->error));
    }
    const Finished& f = std::get<Finished>(event);
    close(f.account, reason_name(f.reason), e2e_s);
    if (f.reason == FinishReason::cancelled)
      return writer_->failed(i, {.status = 503, .message = "the server ended this request: it is shutting down"});
    return writer_->finished(i, f);
  }

  void close(const RequestAccount& account, const char* reason, double e2e_s) {
    context_.metrics.finished(account, reason, e2e_s);
    last_ = {.id = id_,
             .endpoint = endpoint_,
             .finish_reason = reason,
             .status = 200,
             .account = account,
             .whole = whole_budget(account)};
  }

  ServerContext& context_;
  std::string id_, endpoint_;
  api::Generation generation_;
  TimeBook book_;
  int64_t received_ns_;
  std::vector<EventStream> streams_;
  std::unique_ptr<api::AnswerWriter> writer_;
  std::shared_ptr<LiveRequest> live_;
  api::ClosedAccount last_;
  bool begun_ = false;
};

std::optional<api::Refusal> too_long(const ServerContext& context, const GenerationPlan& plan) {
  const int64_t n_ctx = context.engine.model().n_ctx;
  for (const auto& prompt : plan.prompts) {
    const auto n = static_cast<int64_t>(prompt.size());
    if (n <= n_ctx) continue;
    return api::Refusal{
        .status = 400,
        .message = fmt::format("the prompt has {} tokens and the context holds {}: shorten it, or start "
                               "the server with a larger -c",
                               n, n_ctx),
        .param = {},
        .n_prompt_tokens = n,
        .n_ctx = n_ctx};
  }
  return std::nullopt;
}

Request request_of(const GenerationPlan& plan, size_t prompt, int32_t choice) {
  const api::Generation& g = plan.generation;
  Request r;
  r.tokens = plan.prompts[prompt];
  r.sampling = g.sampling;
  // Choices of one prompt differ although they share a seed.
  if (r.sampling.seed) *r.sampling.seed += static_cast<uint64_t>(choice);
  r.max_tokens = g.max_tokens;
  r.stop = g.stop;
  r.grammar = g.constraint;
  r.text_continues = plan.text_continues;
  return r;
}

}  // namespace

HttpReply refuse(const api::Refusal& refusal, std::string (*render)(const api::Refusal&)) {
  return {.status = refusal.status, .body = render(refusal)};
}

HttpReply refuse(const Error& error) {
  return refuse(api::refusal_of(error));
}

Answer start_generation(ServerContext& context, const HttpRequest& request, GenerationPlan plan) {
  if (const auto refusal = too_long(context, plan)) return refuse(*refusal, plan.render_error);
  std::vector<EventStream> streams;
  api::AnswerHead head{
      .id = context.next_id(),
      .model = context.model_name,
      .created_s =
          std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count(),
      .n_ctx = context.engine.model().n_ctx,
      .n_prompt = {},
      .prompt_text = {},
      .token_bytes = [&engine = context.engine](int32_t id) { return engine.token_bytes(id); },
      .whole_budget = {}};
  uint64_t n_prompt = 0;
  for (size_t p = 0; p < plan.prompts.size(); ++p) {
    for (int32_t c = 0; c < plan.generation.n; ++c) {
      auto stream = context.engine.submit(request_of(plan, p, c));
      if (!stream) {
        HttpReply reply = refuse(api::refusal_of(stream.error()), plan.render_error);
        if (reply.status == 429) {
          const int seconds = context.metrics.retry_after_s(context.engine.stats());
          reply.headers.emplace_back("Retry-After", std::to_string(seconds));
        }
        return reply;
      }
      streams.push_back(std::move(*stream));
      head.n_prompt.push_back(plan.prompts[p].size());
      head.prompt_text.push_back(plan.prompt_texts[p]);
    }
    n_prompt += plan.prompts[p].size();
  }
  auto job = std::make_unique<GenerationJob>(context, request, head.id, plan, std::move(streams), n_prompt);
  head.whole_budget = [j = job.get()](const RequestAccount& a) { return j->whole_budget(a); };
  job->set_writer(plan.make_writer(std::move(head), plan.generation));
  return job;
}

}  // namespace ridge::server
