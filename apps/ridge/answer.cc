#include "answer.h"

#include <atomic>
#include <csignal>
#include <cstdio>

#include "term.h"

namespace ridge::app {
namespace {

// What the signal handler may touch: a stream whose cancel() is one store into an atomic.
std::atomic<EventStream*> g_active{nullptr};
std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<EventStream*>::is_always_lock_free);

void on_interrupt(int) {
  g_interrupted = true;
  if (EventStream* stream = g_active.load()) stream->cancel();
}

// While it lives, Ctrl-C cancels the stream; a second one ends the program as usual.
class InterruptGuard {
 public:
  explicit InterruptGuard(EventStream& stream) {
    g_interrupted = false;
    g_active = &stream;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, &old_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_, nullptr);
    g_active = nullptr;
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_ {};
};

}  // namespace

std::function<void(std::string_view, double)> load_progress() {
  if (!is_terminal(2)) return {};
  return [](std::string_view stage, double share) {
    if (share >= 1.0) {
      std::fputs("\r\x1b[K", stderr);
    } else {
      std::fprintf(stderr, "\r\x1b[Kloading: %.*s %3.0f %%", static_cast<int>(stage.size()), stage.data(), share * 100);
    }
    std::fflush(stderr);
  };
}

Result<Answer> stream_answer(Engine& engine, Request request, TimeBook& write_book) {
  RIDGE_TRY(EventStream stream, engine.submit(std::move(request)));
  const InterruptGuard guard(stream);
  Answer answer;
  bool reader_gone = false;
  const auto write = [&](const std::string& text) {
    answer.text += text;
    if (text.empty() || reader_gone) return;
    reader_gone = !put(text);
    if (reader_gone) stream.cancel();
  };
  while (auto event = stream.next()) {
    const int64_t start = now_ns();
    if (auto* token = std::get_if<TokenEvent>(&*event)) {
      answer.ids.push_back(token->id);
      write(token->text);
      answer.write_overlapped_ms += ms_from_ns(now_ns() - start);
    } else if (auto* done = std::get_if<Finished>(&*event)) {
      write(done->text);
      answer.reason = done->reason;
      answer.account = std::move(done->account);
      answer.seed = done->seed;
      write_book.add(Stage::write, start, now_ns());
    } else {
      return tl::unexpected<Error>(std::get<Failed>(*event).error);
    }
  }
  answer.interrupted = g_interrupted;
  if (reader_gone) return fail(ErrorCode::io, "standard output was closed by its reader");
  return answer;
}

}  // namespace ridge::app
