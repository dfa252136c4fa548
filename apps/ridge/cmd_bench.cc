// ridge bench: llama-bench's flags and table, with each figure's share of this machine's roofs beside it.
#include <algorithm>
#include <optional>

#include "bench/speed_output.h"
#include "bench_flags.h"
#include "builtin_model.h"
#include "command.h"
#include "device/machine.h"

namespace ridge::app {
namespace {

int run_table(BenchFlags& flags) {
  auto cases = bench::plan(flags.axes);
  if (!cases) return report(cases.error());
  std::optional<StoredCeilings> stored;
  if (flags.use_roofs) {
    // The most threads that any row uses; roofs of fewer are in the same file.
    auto got = obtain_ceilings(
        {.n_threads = *std::max_element(flags.axes.n_threads.begin(), flags.axes.n_threads.end())}, false);
    if (!got) return report(got.error());
    stored = std::move(*got);
    if (!stored->note.empty()) warn(stored->note);
  }
  bench::OutputContext context{.format = flags.format, .axes = flags.axes, .cpu_info = read_machine().cpu_model};
  std::vector<bench::SpeedResult> results;
  bool reader_left = !put(bench::output_begin(context));
  bench::SpeedOptions options;
  options.rig.backend = flags.backend;
  options.rig.isa = flags.isa;
  options.n_repetitions = flags.n_repetitions;
  options.warmup = flags.warmup;
  options.ceilings = stored ? &stored->ceilings : nullptr;
  options.no_roofs_reason = "--roofs off: none were asked for";
  options.on_result = [&](const bench::SpeedResult& r) {
    reader_left = reader_left || !put(bench::output_row(context, r, results.size()));
    results.push_back(r);
  };
  const auto done = bench::run_speed(*cases, options);
  // What was measured stays a whole document, also when a later row fails.
  reader_left = reader_left || !put(bench::output_end(context, results));
  if (flags.format != bench::OutputFormat::md) {
    for (const std::string& r : bench::remarks(results)) warn(r);
  }
  if (!done) return report(done.error());
  return reader_left ? kExitFailed : kExitOk;
}

}  // namespace

int cmd_bench(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("bench", "speed of a model: llama-bench's flags and table, and the share of this machine's roofs");
  BenchFlags flags;
  add_bench_flags(cli, flags);
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (flags.axes.models.empty()) {
    auto builtin = find_builtin_model();
    if (!builtin) return report(builtin.error());
    warn("the built-in model is measured; another: -m FILE");
    flags.axes.models.push_back(std::move(*builtin));
  }
  return run_table(flags);
}

}  // namespace ridge::app
