// ridge chat: a conversation in a terminal, or over a pipe one message a line.
#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "answer.h"
#include "command.h"
#include "term.h"

namespace ridge::app {
namespace {

struct ChatFlags {
  ModelFlags model;
  SamplingParams sampling;
  std::string system, variables;
  int n_predict = -1;
  bool hide_timings = false;
};

enum class Read : uint8_t { line, end, interrupted };

void ignore_interrupt(int) {}

// A line from standard input; Ctrl-C gives `interrupted` instead of ending the program.
Read read_line(std::string& line) {
  struct sigaction action {}, old {};
  action.sa_handler = ignore_interrupt;  // without SA_RESTART: the read returns
  sigaction(SIGINT, &action, &old);
  line.clear();
  Read result = Read::end;
  while (true) {
    errno = 0;
    const int c = std::fgetc(stdin);
    if (c == '\n') result = Read::line;
    if (c == '\n') break;
    if (c == EOF) {
      if (errno == EINTR) result = Read::interrupted;
      else if (!line.empty()) result = Read::line;
      break;
    }
    line += static_cast<char>(c);
  }
  if (result == Read::interrupted) std::clearerr(stdin);
  sigaction(SIGINT, &old, nullptr);
  return result;
}

class Conversation {
 public:
  Conversation(Engine& engine, const ChatFlags& flags) : engine_(engine), flags_(flags) { clear(); }

  // False: the conversation is over.
  bool take(const std::string& line) {
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
  int exit_code() const { return exit_code_; }

 private:
  void clear() {
    messages_.clear();
    if (!flags_.system.empty()) messages_.push_back({"system", flags_.system});
  }

  // On an error the user's message is taken back, so that the conversation can go on.
  void answer() {
    const auto done = try_answer();
    if (done) return;
    exit_code_ = report(done.error());
    if (!messages_.empty() && messages_.back().role == "user") messages_.pop_back();
  }

  Result<void> try_answer() {
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
    const auto rate = [](const PhaseWork& w) { return w.forward_ms > 0 ? static_cast<double>(w.n_tokens) / w.forward_ms * 1000.0 : 0.0; };
    if (!flags_.hide_timings) {
      std::fprintf(stderr, "\n[ Prompt: %.1f t/s | Generation: %.1f t/s ]%s\n", rate(p), rate(d), a.interrupted ? " stopped" : "");
    }
    if (a.reason == FinishReason::context_full) warn("the context is full: /clear to start anew, or a larger -c");
    messages_.push_back({"assistant", std::move(a.text)});
    return {};
  }

  Engine& engine_;
  const ChatFlags& flags_;
  std::vector<Message> messages_;
  int exit_code_ = kExitOk;
};

}  // namespace

int cmd_chat(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("chat", "talk with a model; Ctrl-C stops an answer, /exit or Ctrl-D ends");
  ChatFlags flags;
  add_model_flags(cli, flags.model);
  cli.value("-sys, --system-prompt", flags.system, "system message");
  cli.value("-n, --predict", flags.n_predict, "most tokens of an answer", -1, 1 << 30);
  cli.value("--chat-template-kwargs", flags.variables, "JSON object of further template variables");
  cli.flag("--no-show-timings", flags.hide_timings, "no line of speeds after an answer");
  add_sampling_flags(cli, flags.sampling);
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = check_model_flags(flags.model); !ok) return report(ok.error());
  flags.model.options.on_progress = load_progress();
  const auto engine = Engine::load(flags.model.options);
  if (!engine) return report(engine.error());
  if (!(*engine)->model().note.empty()) warn((*engine)->model().note);
  if (!(*engine)->path().placement_note.empty()) warn((*engine)->path().placement_note);
  // A template that cannot be used is known before the first message is typed.
  if (const auto probe = (*engine)->chat_prompt(std::vector<Message>{{"user", "hello"}}, {.variables_json = flags.variables}); !probe) {
    return report(probe.error());
  }

  Conversation conversation(**engine, flags);
  const Style style{is_terminal(1)};
  const bool interactive = is_terminal(0);
  std::string line;
  while (true) {
    if (interactive) put(style.bold("\n> "));
    const Read read = read_line(line);
    if (read == Read::interrupted) {
      put("\n(/exit or Ctrl-D ends)");
      continue;
    }
    if (read == Read::end || !conversation.take(line)) break;
  }
  return conversation.exit_code();
}

}  // namespace ridge::app
