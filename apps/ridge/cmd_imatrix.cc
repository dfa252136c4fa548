// ridge imatrix: the importance matrix of a model over a text, in the file that llama-imatrix writes and `ridge
// quantize --imatrix` reads.
#include "command.h"
#include "quality/observer.h"
#include "text_chunks.h"

namespace ridge::app {
namespace {

struct Job {
  ModelFlags flags;
  TextFlags text;
  std::string out = "imatrix.gguf";
  bool process_output = false, no_ppl = false;
};

Result<std::string> run_job(const Job& job) {
  TimeBook book;
  EngineOptions options = job.flags.options;
  if (options.n_ctx == 0) options.n_ctx = 512;
  RIDGE_TRY(const LoadedModel model, load_model_file(options, {.tokenizer = true, .chat_template = false}, book));
  RIDGE_TRY(ScoredText text, prepare_text(job.text, model, options.n_ctx));
  quality::Imatrix matrix;
  matrix.datasets = {job.text.file.empty() ? "prompt" : job.text.file};
  matrix.n_chunks = static_cast<uint32_t>(text.options.chunks.size());
  matrix.chunk_tokens = static_cast<uint32_t>(options.n_ctx);
  quality::ObservingDevice device(*model.device, matrix, job.process_output);
  RIDGE_TRY(const auto source, quality::ModelLogits::create(model, options, options.n_ctx, &device));
  quality::NllSums sums;
  const StopOnInterrupt stop;
  text.options.on_chunk = [&](size_t i) {
    const bool is_read = job.no_ppl || put(fmt::format("[{}]{:.4f},", i + 1, sums.perplexity().value));
    return is_read && !stop.is_set();
  };
  quality::LogitsSource* sources[] = {source.get()};
  RIDGE_CHECK_OK(quality::score(text.tokens, text.options, sources, [&](int32_t token, auto rows) {
    if (!job.no_ppl) sums.add(quality::log_sum_exp(rows[0]) - static_cast<double>(rows[0][static_cast<size_t>(token)]));
  }));
  RIDGE_CHECK_OK(matrix.save(job.out));
  return (job.no_ppl ? std::string() : "\n" + estimate_text(sums)) +
         fmt::format("{}: {} tensors from {} chunks of {} tokens\n", job.out, matrix.entries.size(), matrix.n_chunks,
                     matrix.chunk_tokens);
}

}  // namespace

int cmd_imatrix(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("imatrix", "which columns of a model's weights matter, found on a text; for `ridge quantize --imatrix`");
  Job job;
  add_model_flags(cli, job.flags);
  add_text_flags(cli, job.text);
  cli.value("-o, --output-file", job.out, "where to write the matrix (GGUF)");
  cli.flag("--process-output", job.process_output, "output.weight too");
  cli.flag("--no-ppl", job.no_ppl, "no perplexity beside it");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = check_model_flags(job.flags); !ok) return report(ok.error());
  const auto text = run_job(job);
  if (!text) return report(text.error());
  return put(*text) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
