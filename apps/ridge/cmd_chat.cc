// ridge chat: a conversation in a terminal, or over a pipe one message a line.
#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "answer.h"
#include "builtin_model.h"
#include "command.h"
#include "conversation.h"
#include "term.h"

namespace ridge::app {
namespace {

enum class Read : uint8_t { line, end, interrupted };

void ignore_interrupt(int) {}

// A line from standard input; Ctrl-C gives `interrupted` instead of ending the program.
Read read_line(std::string& line) {
  struct sigaction action {
  }, old{};
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
      if (errno == EINTR)
        result = Read::interrupted;
      else if (!line.empty())
        result = Read::line;
      break;
    }
    line += static_cast<char>(c);
  }
  if (result == Read::interrupted) std::clearerr(stdin);
  sigaction(SIGINT, &old, nullptr);
  return result;
}

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
  builtin_sampling(cli, flags.model, flags.sampling);
  flags.model.options.on_progress = load_progress();
  const auto engine = Engine::load(flags.model.options);
  if (!engine) return report(engine.error());
  if (!(*engine)->model().note.empty()) warn((*engine)->model().note);
  if (!(*engine)->path().placement_note.empty()) warn((*engine)->path().placement_note);
  // A template that cannot be used is known before the first message is typed.
  if (const auto probe =
          (*engine)->chat_prompt(std::vector<Message>{{"user", "hello"}}, {.variables_json = flags.variables});
      !probe) {
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
