// ridge bench: llama-bench's flags and table, with each figure's share of this machine's roofs beside it; --batched and
// --ops look closer.
#include <algorithm>
#include <optional>

#include "bench/ops.h"
#include "bench/speed_output.h"
#include "bench_flags.h"
#include "builtin_model.h"
#include "command.h"
#include "device/machine.h"

namespace ridge::app {
namespace {

// The roofs for as many threads as any row uses: those of fewer are in the same file. Measured where none are kept.
Result<std::optional<Ceilings>> roofs_of_machine(const BenchFlags& flags) {
  if (!flags.use_roofs) return std::optional<Ceilings>();
  const auto& threads = flags.axes.n_threads;
  const int most = threads.empty() ? 0 : *std::max_element(threads.begin(), threads.end());
  RIDGE_TRY(StoredCeilings stored, obtain_ceilings({.n_threads = most}, false));
  if (!stored.note.empty()) warn(stored.note);
  return std::optional(std::move(stored.ceilings));
}

int run_table(BenchFlags& flags) {
  auto cases = bench::plan(flags.axes);
  if (!cases) return report(cases.error());
  const auto ceilings = roofs_of_machine(flags);
  if (!ceilings) return report(ceilings.error());
  bench::OutputContext context{.format = flags.format, .axes = flags.axes, .cpu_info = read_machine().cpu_model};
  std::vector<bench::SpeedResult> results;
  bool reader_left = !put(bench::output_begin(context));
  bench::SpeedOptions options;
  options.rig.backend = flags.backend;
  options.rig.isa = flags.isa;
  options.n_repetitions = flags.n_repetitions;
  options.warmup = flags.warmup;
  options.ceilings = *ceilings ? &**ceilings : nullptr;
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

bench::RigOptions rig_of(const BenchFlags& flags) {
  return {.model_path = flags.axes.models[0],
          .backend = flags.backend,
          .isa = flags.isa,
          .n_threads = flags.axes.n_threads.empty() ? 0 : flags.axes.n_threads[0]};
}

int run_batched_table(const BenchFlags& flags) {
  bench::BatchedOptions o = flags.batched;
  o.rig = rig_of(flags);
  const auto first = [](const auto& list, auto& value) {
    if (!list.empty()) value = list[0];
  };
  first(flags.axes.n_batch, o.n_batch), first(flags.axes.n_ubatch, o.n_ubatch);
  first(flags.axes.type_k, o.type_k), first(flags.axes.type_v, o.type_v);
  first(flags.axes.flash_attn, o.flash_attn);
  const auto ceilings = roofs_of_machine(flags);
  if (!ceilings) return report(ceilings.error());
  bench::BatchedRun run;
  bench::Roofs roofs;
  const bool jsonl = flags.format == bench::OutputFormat::jsonl;
  const auto done = bench::run_batched(
      o,
      [&](const bench::BatchedRun& r) {
        run = r;
        if (*ceilings) roofs = bench::roofs_for(**ceilings, r.n_threads);
        if (r.model.is_synthetic) warn(bench::kSyntheticRemark);
        if (!jsonl) put(bench::batched_begin(o, r));
      },
      [&](const bench::BatchedRow& row) {
        put(jsonl ? bench::batched_row_jsonl(o, run, row, roofs) : bench::batched_row(row, roofs));
      });
  return done ? kExitOk : report(done.error());
}

int run_ops_table(const BenchFlags& flags) {
  const bench::Axes& a = flags.axes;
  bench::OpsOptions o{.rig = rig_of(flags)};
  const auto first = [](const auto& list, auto& value) {
    if (!list.empty()) value = list[0];
  };
  first(a.n_prompt, o.n_prompt), first(a.n_gen, o.n_gen), first(a.n_depth, o.n_depth), first(a.n_batch, o.n_batch);
  first(a.n_ubatch, o.n_ubatch), first(a.type_k, o.type_k), first(a.type_v, o.type_v);
  o.n_repetitions = flags.n_repetitions;
  const auto ceilings = roofs_of_machine(flags);
  if (!ceilings) return report(ceilings.error());
  const auto found = bench::run_ops(o, *ceilings ? &**ceilings : nullptr);
  if (!found) return report(found.error());
  const bool json = flags.format == bench::OutputFormat::json;
  return put(json ? bench::ops_json(*found) : bench::ops_table(*found)) ? kExitOk : kExitFailed;
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
  if (const auto ok = check_bench_flags(flags); !ok) return report(ok.error());
  return flags.is_batched ? run_batched_table(flags) : flags.is_ops ? run_ops_table(flags) : run_table(flags);
}

}  // namespace ridge::app
