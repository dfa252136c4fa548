// The public face: loads, answers questions about the model, checks requests and hands them to the core's thread.
#include "ridge/engine.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "device/machine.h"
#include "engine/chat.h"
#include "engine/constrain.h"
#include "engine/core.h"
#include "engine/forecast.h"
#include "engine/loader.h"

namespace ridge {
namespace {

// An event beside the tokens': the terminal one, and room to spare.
constexpr size_t kSpareEvents = 8;

}  // namespace

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::end_of_generation:
      return "end of generation";
    case FinishReason::stop_string:
      return "stop string";
    case FinishReason::max_tokens:
      return "max tokens";
    case FinishReason::context_full:
      return "context full";
    case FinishReason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

namespace {

// The terminal event's wait for its reader belongs to the request's accounts.
std::optional<Event> deliver(EventStream::State& state, std::optional<Event> event) {
  if (!event || std::holds_alternative<TokenEvent>(*event)) return event;
  state.ended = true;
  RequestAccount& account =
      std::holds_alternative<Finished>(*event) ? std::get<Finished>(*event).account : std::get<Failed>(*event).account;
  const double wait_ms = ms_from_ns(now_ns() - state.terminal_ns);
  account.time.stages.push_back({std::string(to_string(Stage::deliver)), wait_ms, 1});
  account.time.elapsed_ms += wait_ms;
  return event;
}

}  // namespace

EventStream::EventStream(std::shared_ptr<State> state) : state_(std::move(state)) {}
EventStream::EventStream(EventStream&&) noexcept = default;
EventStream& EventStream::operator=(EventStream&& o) noexcept {
  if (this != &o) {
    if (state_) {
      on_event({});
      cancel();
    }
    state_ = std::move(o.state_);
  }
  return *this;
}
EventStream::~EventStream() {
  if (!state_) return;
  on_event({});
  cancel();
}

void EventStream::cancel() {
  state_->cancelled.store(true, std::memory_order_relaxed);
}

std::optional<Event> EventStream::next() {
  if (state_->ended) return std::nullopt;
  return deliver(*state_, state_->events.pop());
}

std::optional<Event> EventStream::try_next() {
  if (state_->ended) return std::nullopt;
  return deliver(*state_, state_->events.try_pop());
}

bool EventStream::ended() const {
  return state_->ended;
}

void EventStream::on_event(std::function<void()> wake) {
  const std::lock_guard lock(state_->wake_mutex);
  state_->wake = std::move(wake);
}

struct Engine::Impl {
  LoadedModel loaded;
  LoadAccount load_account;
  std::vector<MemoryLine> forecast;
  std::shared_ptr<sample::SamplerScratch> scratch;  // of the engine thread
  int32_t n_ctx = 0;
  ExecutedPath path;
  std::unique_ptr<Constraints> constraints;
  std::unique_ptr<EngineCore> core;  // last: its thread uses all of the above
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

namespace {

Result<void> check_options(const EngineOptions& o) {
  const auto range = [](const char* name, int value, int low, int high) -> Result<void> {
    if (value >= low && value <= high) return {};
    return fail(ErrorCode::invalid_argument, "{}: found {}, expected {} to {}", name, value, low, high);
  };
  RIDGE_CHECK_OK(range("n_ctx (-c)", o.n_ctx, 0, kMaxContext));
  RIDGE_CHECK_OK(range("n_ubatch (-ub)", o.n_ubatch, 1, 65536));
  RIDGE_CHECK_OK(range("n_threads (-t)", o.n_threads, 0, 1024));
  RIDGE_CHECK_OK(range("n_parallel (-np)", o.n_parallel, 1, 1024));
  return range("max_queue", o.max_queue, 1, 65536);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::load(const EngineOptions& options) {
  const int64_t start = now_ns();
  RIDGE_CHECK_OK(check_options(options));
  RIDGE_TRY(const DType type_k, parse_kv_type(options.type_k));
  RIDGE_TRY(const DType type_v, parse_kv_type(options.type_v));
  TimeBook book;
  auto impl = std::make_unique<Impl>();
  RIDGE_TRY(impl->loaded, load_model_file(options, {}, book));
  LoadedModel& m = impl->loaded;
  impl->n_ctx = m.info.n_ctx;
  const ForecastOptions wanted{.n_ctx = impl->n_ctx,
                               .n_ubatch = std::min(options.n_ubatch, impl->n_ctx),
                               .max_out_rows = options.n_parallel,
                               .kv = {type_k, type_v},
                               .device = m.device.get()};
  {
    const ScopedSpan span(book, Stage::forecast);
    if (options.check_memory) RIDGE_CHECK_OK(check_memory(*m.model, wanted, memory_budget_bytes()));
    RIDGE_TRY(Forecast forecast, forecast_memory(*m.model, wanted));
    impl->forecast = std::move(forecast.lines);
  }
  RIDGE_TRY(auto runner, Runner::create(*m.model, *m.device, *m.ledger,
                                        {.n_ctx = wanted.n_ctx,
                                         .n_ubatch = wanted.n_ubatch,
                                         .max_out_rows = options.n_parallel,
                                         .max_slices = options.n_parallel,
                                         .kv = wanted.kv},
                                        book));
  {
    const ScopedSpan span(book, Stage::start_engine);
    const DeviceInfo d = m.device->info();
    impl->path = {.backend = d.name,
                  .isa = d.isa,
                  .isa_reason = d.isa_reason,
                  .n_threads = d.n_threads,
                  .threads_reason = d.threads_reason,
                  .placement_note = m.placement_note,
                  .kernels = runner->describe_step()};
    RIDGE_TRY(impl->scratch, sample::SamplerScratch::create(m.info.n_vocab));
    impl->constraints = std::make_unique<Constraints>(*m.tokenizer);
    impl->core = std::make_unique<EngineCore>(std::move(runner), *m.tokenizer, options.n_parallel,
                                              static_cast<size_t>(options.max_queue));
    impl->core->start();
  }
  impl->load_account = {.time = book.close(now_ns() - start),
                        .file_was_resident = m.resident_share >= 1.0,
                        .resident_share = m.resident_share};
  if (options.on_progress) options.on_progress(to_string(Stage::start_engine), 1.0);
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

const ModelInfo& Engine::model() const {
  return impl_->loaded.info;
}
const LoadAccount& Engine::load_account() const {
  return impl_->load_account;
}
EngineStats Engine::stats() const {
  return impl_->core->stats();
}
ExecutedPath Engine::path() const {
  return impl_->path;
}

MemoryBook Engine::memory() const {
  MemoryBook book;
  book.lines = impl_->forecast;
  for (const MemoryLedger::Line& l : impl_->loaded.ledger->lines()) {
    const std::string_view owner = to_string(l.owner);
    const auto same = [&](const MemoryLine& x) { return x.owner == owner && x.detail == l.detail; };
    auto at = std::find_if(book.lines.begin(), book.lines.end(), same);
    if (at == book.lines.end()) at = book.lines.insert(at, MemoryLine{.owner = std::string(owner), .detail = l.detail});
    at->current_bytes = l.current_bytes;
    at->peak_bytes = l.peak_bytes;
    book.tagged_bytes += l.current_bytes;
  }
  for (const MemoryLine& l : book.lines) book.predicted_bytes += l.predicted_bytes;
  const OsMemory os = os_memory();
  book.rss_bytes = os.rss_bytes, book.pss_bytes = os.pss_bytes, book.anonymous_bytes = os.anonymous_bytes;
  book.file_bytes = os.file_bytes, book.peak_rss_bytes = os.peak_rss_bytes;
  return book;
}

Result<std::vector<int32_t>> Engine::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  return impl_->loaded.tokenizer->encode(text, {.add_special = add_special, .parse_special = parse_special});
}

std::string Engine::detokenize(std::span<const int32_t> ids, bool show_special) const {
  return impl_->loaded.tokenizer->decode(ids, {.render_special = show_special});
}

std::string Engine::token_bytes(int32_t id) const {
  const Tokenizer& t = *impl_->loaded.tokenizer;
  return id >= 0 && id < t.n_vocab() ? std::string(t.piece(id, true)) : std::string();
}

Result<ChatPrompt> Engine::chat_prompt(std::span<const Message> messages, const ChatOptions& options) const {
  return make_chat_prompt(impl_->loaded, messages, options);
}

Result<EventStream> Engine::submit(Request request) {
  const int64_t start = now_ns();
  Impl& e = *impl_;
  const Tokenizer& tokenizer = *e.loaded.tokenizer;
  const int32_t n_vocab = e.loaded.info.n_vocab;
  if (request.tokens.empty()) return fail(ErrorCode::invalid_argument, "the prompt is empty: give at least one token");
  for (size_t i = 0; i < request.tokens.size(); ++i) {
    if (request.tokens[i] < 0 || request.tokens[i] >= n_vocab) {
      return fail(ErrorCode::invalid_argument, "token {} of the prompt is {}, expected 0 to {}", i, request.tokens[i],
                  n_vocab - 1);
    }
  }
  if (request.tokens.size() > static_cast<size_t>(e.n_ctx)) {
    return fail(ErrorCode::context_exceeded,
                "the prompt has {} tokens and the context holds {}: shorten it, or load with -c {}",
                request.tokens.size(), e.n_ctx, request.tokens.size() + 1);
  }
  if (request.max_tokens < -1)
    return fail(ErrorCode::invalid_argument, "max_tokens (-n): found {}, expected -1 or more", request.max_tokens);
  RIDGE_TRY(StopMatcher stops, StopMatcher::create(request.stop));
  RIDGE_CHECK_OK(sample::validate(request.sampling, n_vocab));
  if (!request.sampling.seed) request.sampling.seed = (uint64_t{std::random_device{}()} << 32) | std::random_device{}();

  const int64_t checked = now_ns();
  std::unique_ptr<grammar::TokenMatcher> matcher;
  if (request.grammar) {
    RIDGE_TRY(matcher, e.constraints->matcher(*request.grammar));
  }
  const int64_t compiled = now_ns();

  const auto text_of = [&tokenizer](int32_t id, std::string& out) { out += tokenizer.piece(id, true); };
  RIDGE_TRY(sample::SamplerChain chain,
            sample::SamplerChain::create(request.sampling, {.n_vocab = n_vocab,
                                                            .n_ctx = e.n_ctx,
                                                            .end_tokens = tokenizer.eog_ids(),
                                                            .token_text = text_of,
                                                            .scratch = e.scratch}));
  for (const int32_t id : request.tokens) chain.accept(id);
  const int64_t room = e.n_ctx - static_cast<int64_t>(request.tokens.size());
  const int64_t n_new = request.max_tokens < 0 ? room + 1 : std::min<int64_t>(request.max_tokens, room + 1);
  auto state = std::make_shared<EventStream::State>(static_cast<size_t>(n_new) + kSpareEvents);
  auto s = std::make_unique<Sequence>(
      std::move(request), state, std::move(chain),
      Detokenizer(tokenizer, {.render_special = request.show_special, .text_start = !request.text_continues}),
      std::move(stops));
  s->grammar = std::move(matcher);
  s->tokens = s->request.tokens;
  s->n_prompt = static_cast<int32_t>(s->tokens.size());
  s->n_limit = s->n_prompt + static_cast<int32_t>(n_new);
  s->tokens.reserve(static_cast<size_t>(s->n_limit));
  s->token_ms.reserve(static_cast<size_t>(n_new));
  s->received_ns = start;
  s->submitted_ns = now_ns();
  s->book.add(Stage::submit, start, checked);
  if (s->grammar != nullptr) s->book.add(Stage::grammar_compile, checked, compiled);
  s->book.add(Stage::submit, s->grammar != nullptr ? compiled : checked, s->submitted_ns);
  if (!e.core->submit(std::move(s))) {
    return fail(ErrorCode::limit, "the queue is full: {} requests run or wait, which is the most; try again later",
                e.core->capacity());
  }
  return EventStream(std::move(state));
}

}  // namespace ridge
