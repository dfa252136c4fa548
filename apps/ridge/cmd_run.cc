// ridge run: a prompt in, text out as it is generated, then where the time and the memory went.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "answer.h"
#include "builtin_model.h"
#include "command.h"
#include "grammar_flags.h"
#include "show_accounts.h"
#include "show_brief.h"
#include "term.h"
#include "whole_budget.h"

namespace ridge::app {
namespace {

struct RunFlags {
  ModelFlags model;
  SamplingParams sampling;
  GrammarFlags grammar;
  std::string prompt, prompt_file, system, json_path, chat_variables;
  std::vector<std::string> stops;
  int n_predict = -1;
  std::string accounts = "full", positional;
  bool chat = false, no_chat = false, no_escape = false, special = false, no_display_prompt = false, no_perf = false;
};

void add_flags(Cli& cli, RunFlags& f) {
  add_model_flags(cli, f.model);
  cli.positional("PROMPT", f.positional, "the prompt (or -p)");
  cli.value("-p, --prompt", f.prompt, "the prompt");
  cli.value("-f, --file", f.prompt_file, "file that holds the prompt; - for standard input");
  cli.value("-n, --predict, --n-predict", f.n_predict,
            "most tokens to generate; -1 = until the model ends or the context is full", -1, 1 << 30);
  cli.flag("--chat, -cnv, --conversation", f.chat, "the prompt is a user's message: apply the model's chat template");
  cli.flag("-no-cnv, --no-conversation", f.no_chat, "the built-in model too gets the prompt as it stands");
  cli.value("-sys, --system-prompt", f.system, "system message (with --chat)");
  cli.value("--chat-template-kwargs", f.chat_variables, "JSON object of further template variables");
  cli.values("-r, --reverse-prompt, --stop", f.stops, "text that ends the answer and is not shown; may be repeated");
  cli.flag("--no-escape", f.no_escape, "take \\n and the like in -p and -r literally");
  cli.flag("--special, -sp", f.special, "show control tokens");
  cli.flag("--no-display-prompt", f.no_display_prompt, "do not repeat the prompt before the answer");
  cli.value("--accounts", f.accounts, "full: tables; brief: a card of 80 columns");
  cli.flag("--no-perf", f.no_perf, "no accounts after the answer");
  cli.value("--json", f.json_path, "file for the accounts as JSON; - for standard output");
  add_sampling_flags(cli, f.sampling);
  add_grammar_flags(cli, f.grammar);
}

Result<std::string> prompt_text(const Cli& cli, const RunFlags& f) {
  if (int{cli.given("-p")} + int{cli.given("-f")} + int{cli.has_positional()} > 1)
    return fail(ErrorCode::invalid_argument, "two prompts: give one, with -p, with -f or as the word without a flag");
  if (cli.has_positional()) return f.no_escape ? f.positional : unescape(f.positional);
  if (cli.given("-p")) return f.no_escape ? f.prompt : unescape(f.prompt);
  if (cli.given("-f")) return read_text(f.prompt_file);
  if (is_terminal(0))
    return fail(ErrorCode::invalid_argument, "no prompt: give one as TEXT, with -p TEXT, -f FILE or on standard input");
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
  RIDGE_TRY(const std::optional<Constraint> grammar, constraint_of(cli, f.grammar));
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
                  .grammar = grammar,
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
    const Style style{is_terminal(2)};
    const std::string shown = f.accounts == "brief" ? account_card(account, style)
                                                    : perf_block(account) + "\n" + account_tables(account, style);
    std::fputs(("\n" + shown).c_str(), stderr);
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
  if (flags.accounts != "full" && flags.accounts != "brief")
    return report({ErrorCode::invalid_argument, "--accounts: found '" + flags.accounts + "', expected full or brief"});
  if (const auto ok = check_model_flags(flags.model); !ok) return report(ok.error());
  builtin_sampling(cli, flags.model, flags.sampling);
  flags.chat = (flags.chat || flags.model.is_builtin) && !flags.no_chat;
  TimeBook book;
  const auto code = run(cli, flags, start, book);
  return code ? *code : report(code.error());
}

}  // namespace ridge::app
