// ridge quantize: a model file in fewer bits, with llama-quantize's words and options, and what was lost by type.
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/clock.h"
#include "command.h"
#include "quality/quantise.h"
#include "quantize_words.h"
#include "term.h"

namespace ridge::app {
namespace {

volatile std::sig_atomic_t g_stop = 0;

// "[ 42 %] blk.3.ffn_down.weight" on one line that is written over, at most 20 times a second.
class Progress {
 public:
  bool operator()(double share, std::string_view tensor) {
    const int64_t now = now_ns();
    if (is_shown_ && (now - last_ns_ > 50'000'000 || share >= 1)) {
      std::fprintf(stderr, "\r[%3.0f %%] %-60.*s", 100 * share, static_cast<int>(std::min<size_t>(tensor.size(), 60)),
                   tensor.data());
      last_ns_ = now;
    }
    return g_stop == 0;
  }
  void end() const {
    if (is_shown_) std::fprintf(stderr, "\r%70s\r", "");
  }

 private:
  bool is_shown_ = is_terminal(2);
  int64_t last_ns_ = 0;
};

std::string shape_text(const TensorView& t) {
  std::string text;
  for (uint32_t d = 0; d < t.n_dims; ++d) text += (d > 0 ? " x " : "") + std::to_string(t.ne[d]);
  return text;
}

std::string plan_text(const quality::QuantisePlan& plan) {
  Table table({"tensor", "shape", "from", "to", "size", ""}, {false, true, false, false, true, false});
  for (const quality::QuantisePlanRow& r : plan.rows) {
    table.row({std::string(r.tensor.name), shape_text(r.tensor), std::string(info(r.tensor.dtype).name),
               std::string(info(r.choice.type).name), human_bytes(r.n_bytes),
               r.choice.is_kept ? "kept" : (r.choice.is_fallback ? "substitute: rows are no whole blocks" : "")});
  }
  return table.text(Style{is_terminal(1)});
}

std::string size_text(const quality::QuantisePlan& plan) {
  return fmt::format("{} -> {}, {:.2f} bits a weight\n", human_bytes(plan.n_bytes_in), human_bytes(plan.n_bytes_out),
                     plan.bits_per_weight());
}

std::string loss_text(const quality::QuantiseReport& report) {
  Table table({"type", "tensors", "weights", "size", "rms error", "of the rms value"},
              {false, true, true, true, true, true});
  for (const quality::TypeLoss& l : report.losses) {
    const bool is_exact = l.square_error == 0;
    table.row({std::string(info(l.type).name), grouped(l.n_tensors), grouped(static_cast<uint64_t>(l.n_weights)),
               human_bytes(l.n_bytes), is_exact ? "0" : fmt::format("{:.3e}", l.rmse()),
               is_exact ? "0" : fmt::format("{:.3f} %", 100 * l.relative())});
  }
  return table.text(Style{is_terminal(1)});
}

Result<std::string> run_job(const QuantizeWords& words) {
  quality::QuantiseOptions options = words.options;
  RIDGE_TRY(const GgufFile file, GgufFile::open(words.in));
  quality::Imatrix imatrix;
  if (!options.imatrix_path.empty()) {
    RIDGE_TRY(imatrix, quality::Imatrix::load(options.imatrix_path));
    options.imatrix = &imatrix;
  }
  RIDGE_TRY(const quality::QuantisePlan plan, plan_quantise(file, options));
  if (words.is_dry_run) return plan_text(plan) + size_text(plan) + "dry run: nothing was written\n";
  Progress progress;
  options.on_progress = [&progress](double share, std::string_view tensor) { return progress(share, tensor); };
  std::signal(SIGINT, [](int) { g_stop = 1; });
  auto report = quantise_file(file, plan, words.out, options);
  std::signal(SIGINT, SIG_DFL);
  progress.end();
  if (!report) return tl::unexpected<Error>(std::move(report.error()));
  if (report->n_without_importance > 0)
    warn(fmt::format("{} tensors are not in the importance matrix", report->n_without_importance));
  const double seconds = static_cast<double>(report->elapsed_ns) * 1e-9;
  std::string text = loss_text(*report) + size_text(plan);
  text += fmt::format("{} in {:.2f} s, {:.0f} million weights/s\n", report->paths.front(), seconds,
                      static_cast<double>(plan.n_weights) / 1e6 / std::max(seconds, 1e-9));
  return text;
}

}  // namespace

int cmd_quantize(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("quantize", "IN.gguf [OUT.gguf] TYPE [THREADS]: a model in fewer bits\ntypes: " + quantize_types());
  QuantizeWords words;
  add_quantize_flags(cli, words);
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = read_quantize_words(words); !ok) return report(ok.error());
  const auto text = run_job(words);
  if (!text) return report(text.error());
  return put(*text) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
