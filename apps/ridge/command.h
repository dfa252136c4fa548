// What the subcommands share: their table's row, exit codes, the flags of models and samplers, reading input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli.h"
#include "ridge/options.h"
#include "ridge/sampling.h"

namespace ridge::app {

// Exit codes of the program; `ridge --help` prints this table.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,         // a device failed, or the program broke its own rules
  kExitUsage = 2,          // a flag or value that makes no sense
  kExitFile = 3,           // missing, unreadable, or not what it claims to be
  kExitUnsupported = 4,    // architecture, format, tokeniser or template that this build cannot run
  kExitDoesNotFit = 5,     // memory, context, queue or another limit
  kExitTemplate = 6,       // the chat template failed
  kExitInterrupted = 130,  // Ctrl-C
};
int exit_code(ErrorCode code);

struct ProcessStart {
  int64_t main_ns = 0;    // clock at the start of main
  int64_t before_ns = 0;  // from exec to main as the kernel recorded it (10 ms steps), or -1
};

struct Command {
  std::string_view name, summary;
  int (*run)(const std::vector<std::string>& args, const ProcessStart& start);
};

int cmd_run(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_chat(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_serve(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_inspect(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_device(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_tokenize(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_template(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_perplexity(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_imatrix(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_quantize(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_logits(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_ceilings(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_bench(const std::vector<std::string>& args, const ProcessStart& start);
int cmd_synth(const std::vector<std::string>& args, const ProcessStart& start);

// "error: <sentence>" on standard error; returns the exit code.
int report(const Error& error);
void warn(std::string_view sentence);

// -m -c -b -ub -t -ngl -ctk -ctv -fa --backend --isa ... into options.
struct ModelFlags {
  EngineOptions options;
  std::string flash_attn = "auto";
  int n_batch = 2048;
  bool no_mmap = false, mlock = false;
  bool is_builtin = false;  // no -m: the built-in model was chosen
};
void add_model_flags(Cli& cli, ModelFlags& flags);
// Chooses the built-in model where no -m was given; says what a flag asks for and this build does otherwise.
Result<void> check_model_flags(ModelFlags& flags);
// One flag for each row of the table of sampling parameters.
void add_sampling_flags(Cli& cli, SamplingParams& params);

// A whole file, or standard input for "-". Errors: not_found, io, limit (64 MiB).
Result<std::string> read_text(const std::string& path);
// \n \t \\ \" \' \r \xHH as llama.cpp's -e reads them.
std::string unescape(std::string_view text);
// "1,2, 3" or "[1,2,3]". Error: invalid_argument, naming the entry.
Result<std::vector<int32_t>> parse_ids(std::string_view text);
// Writes to standard output and flushes; false when the reader is gone.
bool put(std::string_view text);

}  // namespace ridge::app
