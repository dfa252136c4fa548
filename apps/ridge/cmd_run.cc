// ridge run: a prompt in, text out as it is generated, then where the time and the memory went.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "answer.h"
#include "command.h"
#include "show_accounts.h"
#include "term.h"
#include "whole_budget.h"

namespace ridge::app {
namespace {

struct RunFlags {
  ModelFlags model;
  SamplingParams sampling;
  std::string prompt, prompt_file, system, json_path, chat_variables;
  std::vector<std::string> stops;
  int n_predict = -1;
  bool chat = false, no_escape = false, special = false, no_display_prompt = false, no_perf = false;
};

void add_flags(Cli& cli, RunFlags& f) {
  add_model_flags(cli, f.model);
  cli.value("-p, --prompt", f.prompt, "the prompt");
  cli.value("-f, --file", f.prompt_file, "file that holds the prompt; - for standard input");
  cli.value("-n, --predict, --n-predict", f.n_predict,
            "most tokens to generate; -1 = until the model ends or the context is full", -1, 1 << 30);
  cli.flag("--chat, -cnv, --conversation", f.chat, "the prompt is a user's message: apply the model's chat template");
  cli.value("-sys, --system-prompt", f.system, "system message (with --chat)");
  cli.value("--chat-template-kwargs", f.chat_variables, "JSON object of further template variables");
  cli.values("-r, --reverse-prompt, --stop", f.stops, "text that ends the answer and is not shown; may be repeated");
  cli.flag("--no-escape", f.no_escape, "take \\n and the like in -p and -r literally");
  cli.flag("--special, -sp", f.special, "show control tokens");
  cli.flag("--no-display-prompt", f.no_display_prompt, "do not repeat the prompt before the answer");
  cli.flag("--no-perf", f.no_perf, "no accounts after the answer");
  cli.value("--json", f.json_path, "file for the accounts as JSON; - for standard output");
  add_sampling_flags(cli, f.sampling);
}

Result<std::string> prompt_text(const Cli& cli, const RunFlags& f) {
  if (cli.given("-p") && cli.given("-f"))
    return fail(ErrorCode::invalid_argument, "both -p and -f give a prompt: choose one");
  if (cli.given("-p")) return f.no_escape ? f.prompt : unescape(f.prompt);
  if (cli.given("-f")) return read_text(f.prompt_file);
  if (is_terminal(0))
    return fail(ErrorCode::invalid_argument, "no prompt: give one with -p TEXT, -f FILE or on standard input");
  return read_text("-");
}

Result<std::vector<int32_t>> prompt_tokens(Engine& engine, const RunFlags& f, const std::string& text, TimeBook& book) {
  if (!f.chat) {
    const ScopedSpan span(book, Stage::tokenise);
    return engine.tokenize(text, true, true);
  }
  std::vector<Message> messages;
  if (!f.system.empty()) messages.push_back({"system", f.no_escape ? f.system : unescape(f.system)});
  messages.push_back({"user", text});
  const int64_t start = now_ns();
  RIDGE_TRY(ChatPrompt prompt, engine.chat_prompt(messages, {.variables_json = f.chat_variables}));
  // One call renders and tokenises; it tells the two apart.
  const int64_t rendered = start + static_cast<int64_t>(prompt.render_ms * 1e6);
  book.add(Stage::render_template, start, rendered);
  book.add(Stage::tokenise, rendered, now_ns());
  return std::move(prompt.tokens);
}

Result<int> run(const Cli& cli, RunFlags& f, const ProcessStart& start, TimeBook& book) {
  RIDGE_TRY(const std::string text, prompt_text(cli, f));
  for (std::string& s : f.stops) s = f.no_escape ? s : unescape(s);
  f.model.options.on_progress = load_progress();
  book.add(Stage::arguments, start.main_ns, now_ns());
  RIDGE_TRY(const auto engine, Engine::load(f.model.options));
  if (!engine->model().note.empty()) warn(engine->model().note);
  if (!engine->path().placement_note.empty()) warn(engine->path().placement_note);
  RIDGE_TRY(std::vector<int32_t> tokens, prompt_tokens(*engine, f, text, book));
  if (!f.chat && !f.no_display_prompt) {
    const ScopedSpan span(book, Stage::write);
    put(text);
  }
  Request request{.tokens = std::move(tokens),
                  .sampling = f.sampling,
                  .max_tokens = f.n_predict,
                  .stop = f.stops,
                  .show_special = f.special,
                  .text_continues = !f.chat};
  RIDGE_TRY(const Answer answer, stream_answer(*engine, std::move(request), book));
  RunAccount account{.whole = {},
                     .load = engine->load_account(),
                     .request = answer.account,
                     .memory = {},
                     .path = engine->path(),
                     .model = engine->model(),
                     .finish_reason = std::string(to_string(answer.reason)),
                     .write_overlapped_ms = answer.write_overlapped_ms,
                     .n_ctx = engine->model().n_ctx};
  account.whole = whole_budget(start, now_ns(), book, account.load, account.request);
  account.memory = engine->memory();
  put("\n");
  if (!f.no_perf) {
    std::fputs(("\n" + perf_block(account) + "\n" + account_tables(account, Style{is_terminal(2)})).c_str(), stderr);
  }
  if (f.json_path == "-") {
    put(account_json(account, answer.text));
  } else if (!f.json_path.empty()) {
    std::ofstream out(f.json_path);
    out << account_json(account, answer.text);
    if (!out.flush()) return fail(ErrorCode::io, "'{}': cannot write the accounts", f.json_path);
  }
  return answer.interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace

int cmd_run(const std::vector<std::string>& args, const ProcessStart& start) {
  Cli cli("run", "generate text from a prompt, then print its accounts (on standard error)");
  RunFlags flags;
  add_flags(cli, flags);
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = check_model_flags(flags.model); !ok) return report(ok.error());
  TimeBook book;
  const auto code = run(cli, flags, start, book);
  return code ? *code : report(code.error());
}

}  // namespace ridge::app
