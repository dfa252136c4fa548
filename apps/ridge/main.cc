// ridge: one program, a table of subcommands.
#include <csignal>
#include <cstdio>

#include "base/clock.h"
#include "command.h"

namespace ridge::app {
namespace {

constexpr Command kCommands[] = {
    {"run", "generate text from a prompt, then print its accounts", cmd_run},
    {"chat", "talk with a model; Ctrl-C stops an answer, not the program", cmd_chat},
    {"serve", "answer over HTTP: OpenAI's interface and llama-server's", cmd_serve},
    {"inspect", "what is in a GGUF file, and what it will take in memory", cmd_inspect},
    {"device", "this machine, its instruction sets and threads, and what will be used", cmd_device},
    {"bench", "speed of a model, in the table of llama-bench, with shares of the roofs", cmd_bench},
    {"synth", "a model of known shapes with random weights, for measuring speed", cmd_synth},
    {"ceilings", "the roofs of this machine: read bandwidth, caches, peak arithmetic", cmd_ceilings},
    {"tokenize", "text to token ids, or back with --decode", cmd_tokenize},
    {"template", "render a chat template", cmd_template},
    {"perplexity", "how well a model predicts a text, and how far it lies from another", cmd_perplexity},
    {"imatrix", "which columns of the weights matter, for quantize", cmd_imatrix},
    {"quantize", "a model file in fewer bits, and what that costs", cmd_quantize},
    {"logits", "logits at every position, for checking against a reference", cmd_logits},
};

void print_help(std::FILE* out) {
  std::fputs("ridge " RIDGE_VERSION
             ": local LLM inference that accounts for every millisecond and every byte\n\n"
             "usage: ridge COMMAND [OPTIONS]      ridge COMMAND --help\n\n",
             out);
  for (const Command& c : kCommands)
    std::fprintf(out, "  %-10s %s\n", std::string(c.name).c_str(), std::string(c.summary).c_str());
  std::fputs(
      "\nexit codes: 0 done, 1 failed, 2 usage, 3 file, 4 unsupported, 5 does not fit, 6 template, 130 interrupted\n",
      out);
}

int dispatch(int argc, char** argv, const ProcessStart& start) {
  const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  if (args.empty()) {
    print_help(stderr);
    return kExitUsage;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    print_help(stdout);
    return kExitOk;
  }
  if (args[0] == "--version" || args[0] == "version") {
    std::puts("ridge " RIDGE_VERSION " (" RIDGE_BUILD_TYPE ")");
    return kExitOk;
  }
  std::vector<std::string> names;
  for (const Command& c : kCommands) {
    if (c.name == args[0]) return c.run({args.begin() + 1, args.end()}, start);
    names.emplace_back(c.name);
  }
  const std::string near = nearest(args[0], names);
  return report(
      {ErrorCode::invalid_argument, fmt::format("unknown command '{}'{}; 'ridge --help' lists them", args[0],
                                                near.empty() ? "" : fmt::format(", did you mean '{}'?", near))});
}

}  // namespace
}  // namespace ridge::app

int main(int argc, char** argv) {
  const ridge::app::ProcessStart start{.main_ns = ridge::now_ns(), .before_ns = ridge::process_age_ns()};
  // A reader that went away is an answer of write(), not a death.
  std::signal(SIGPIPE, SIG_IGN);
  return ridge::app::dispatch(argc, argv, start);
}
