#include "conversation.h"

#include <fmt/core.h>

#include <cstdio>

#include "answer.h"
#include "term.h"

namespace ridge::app {

Conversation::Conversation(Engine& engine, const ChatFlags& flags) : engine_(engine), flags_(flags) {
  clear();
}

bool Conversation::take(const std::string& line) {
  if (line == "/exit" || line == "/quit") return false;
  if (line == "/help") {
    put("/exit  /clear (forget the conversation)  /regen (answer again)  /help\n");
  } else if (line == "/clear") {
    clear();
  } else if (line == "/regen") {
    if (messages_.empty() || messages_.back().role != "assistant") {
      warn("/regen: there is no answer yet");
    } else {
      messages_.pop_back();
      answer();
    }
  } else if (!line.empty() && line[0] == '/') {
    warn(fmt::format("unknown command '{}'; /help lists them", line));
  } else if (!line.empty()) {
    messages_.push_back({"user", line});
    answer();
  }
  return true;
}

void Conversation::clear() {
  messages_.clear();
  if (!flags_.system.empty()) messages_.push_back({"system", flags_.system});
}

// On an error the message is taken back, so that the conversation can go on.
void Conversation::answer() {
  const auto done = try_answer();
  if (done) return;
  exit_code_ = report(done.error());
  if (!messages_.empty() && messages_.back().role == "user") messages_.pop_back();
}

Result<void> Conversation::try_answer() {
  RIDGE_TRY(ChatPrompt prompt, engine_.chat_prompt(messages_, {.variables_json = flags_.variables}));
  TimeBook book;
  Request request;
  request.tokens = std::move(prompt.tokens);
  request.sampling = flags_.sampling;
  request.max_tokens = flags_.n_predict;
  request.text_continues = false;
  RIDGE_TRY(Answer a, stream_answer(engine_, std::move(request), book));
  put("\n");
  const PhaseWork &p = a.account.prefill, &d = a.account.decode;
  const auto rate = [](const PhaseWork& w) {
    return w.forward_ms > 0 ? static_cast<double>(w.n_tokens) / w.forward_ms * 1000.0 : 0.0;
  };
  if (!flags_.hide_timings) {
    std::fprintf(stderr, "\n[ Prompt: %.1f t/s | Generation: %.1f t/s ]%s\n", rate(p), rate(d),
                 a.interrupted ? " stopped" : "");
  }
  if (a.reason == FinishReason::context_full) warn("the context is full: /clear to start anew, or a larger -c");
  messages_.push_back({"assistant", std::move(a.text)});
  return {};
}

}  // namespace ridge::app
