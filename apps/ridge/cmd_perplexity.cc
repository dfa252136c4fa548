// ridge perplexity: how well a model predicts a text, and with --base-model how far it lies from another on it: both in
// one pass, no logits file.
#include <algorithm>

#include "command.h"
#include "divergence_text.h"
#include "text_chunks.h"

namespace ridge::app {
namespace {

struct Job {
  ModelFlags flags;
  TextFlags text;
  std::string base_model;
  bool is_divergence = false;
};

Result<void> same_vocabulary(const LoadedModel& a, const LoadedModel& b) {
  if (a.info.n_vocab != b.info.n_vocab) {
    return fail(ErrorCode::invalid_argument, "the model has {} tokens and the base model {}: they cannot be compared",
                a.info.n_vocab, b.info.n_vocab);
  }
  for (int32_t i = 0; i < a.tokenizer->n_vocab() && i < b.tokenizer->n_vocab(); ++i) {
    if (a.tokenizer->piece(i, true) != b.tokenizer->piece(i, true))
      return fail(ErrorCode::invalid_argument, "token {} is not the same in the model and the base model", i);
  }
  return {};
}

Result<std::string> run_job(const Job& job) {
  TimeBook book;
  EngineOptions options = job.flags.options;
  if (options.n_ctx == 0) options.n_ctx = 512;
  if (job.text.stride > 0) options.n_ctx += job.text.stride / 2;  // as llama-perplexity does
  RIDGE_TRY(const LoadedModel model, load_model_file(options, {.tokenizer = true, .chat_template = false}, book));
  RIDGE_TRY(ScoredText text, prepare_text(job.text, model, options.n_ctx));
  RIDGE_TRY(const auto source, quality::ModelLogits::create(model, options, options.n_ctx));
  std::vector<quality::LogitsSource*> sources{source.get()};
  std::optional<LoadedModel> base;
  std::unique_ptr<quality::ModelLogits> base_source;
  if (job.is_divergence) {
    EngineOptions base_options = options;
    base_options.model_path = job.base_model;
    RIDGE_TRY(base, load_model_file(base_options, {.tokenizer = true, .chat_template = false}, book));
    RIDGE_CHECK_OK(same_vocabulary(model, *base));
    RIDGE_TRY(base_source, quality::ModelLogits::create(*base, base_options, options.n_ctx));
    sources.push_back(base_source.get());
  }
  quality::NllSums sums;
  quality::Divergence divergence;
  const StopOnInterrupt stop;
  const bool is_pair = job.is_divergence;
  text.options.on_chunk = [&](size_t i) {
    const bool is_read =
        put(is_pair ? divergence_line(i, divergence) : fmt::format("[{}]{:.4f},", i + 1, sums.perplexity().value));
    return is_read && !stop.is_set();
  };
  put(is_pair ? divergence_heading() : std::string());
  RIDGE_CHECK_OK(quality::score(text.tokens, text.options, sources, [&](int32_t token, auto rows) {
    if (is_pair) {
      divergence.add(token, rows[0], rows[1]);
    } else {
      sums.add(quality::log_sum_exp(rows[0]) - static_cast<double>(rows[0][static_cast<size_t>(token)]));
    }
  }));
  return is_pair ? divergence_text(divergence) : "\n" + estimate_text(sums);
}

}  // namespace

int cmd_perplexity(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("perplexity",
          "perplexity of a text (-c 512 unless given), or with --base-model how far the model lies from it");
  Job job;
  add_model_flags(cli, job.flags);
  add_text_flags(cli, job.text);
  cli.value("--ppl-stride", job.text.stride, "0 = chunks side by side; else overlapping ones, each scoring this many",
            0, 1 << 20);
  cli.flag("--kl-divergence", job.is_divergence, "compare with --base-model, token by token");
  cli.value("--base-model", job.base_model,
            "GGUF file of the model that the other is compared with; implies the above");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = check_model_flags(job.flags); !ok) return report(ok.error());
  if (job.is_divergence && job.base_model.empty())
    return report(
        {ErrorCode::invalid_argument, "--kl-divergence: which model to compare with? give --base-model FILE"});
  job.is_divergence = !job.base_model.empty();
  const auto text = run_job(job);
  if (!text) return report(text.error());
  return put(*text) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
