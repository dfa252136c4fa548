// ridge logits: the model's answer before any sampling, for checking the engine against a reference.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "command.h"
#include "engine/loader.h"
#include "engine/runner.h"
#include "logits_job.h"

namespace ridge::app {
namespace {

Result<std::string> run_job(const ModelFlags& flags, const LogitsJob& job) {
  TimeBook book;
  EngineOptions options = flags.options;
  const int64_t n_needed = static_cast<int64_t>(job.tokens.size()) + job.n_greedy;
  if (n_needed > kMaxContext) return fail(ErrorCode::limit, "{} tokens, at most {}", n_needed, kMaxContext);
  RIDGE_TRY(const DType k, parse_kv_type(options.type_k));
  RIDGE_TRY(const DType v, parse_kv_type(options.type_v));
  RIDGE_TRY(LoadedModel m, load_model_file(options, {.tokenizer = false, .chat_template = false}, book));
  for (const int32_t id : job.tokens) {
    if (id < 0 || id >= m.info.n_vocab) {
      return fail(ErrorCode::invalid_argument, "token id {}, expected 0 to {}", id, m.info.n_vocab - 1);
    }
  }
  const auto rows = static_cast<int32_t>(std::min<int64_t>(options.n_ubatch, static_cast<int64_t>(job.tokens.size())));
  RIDGE_TRY(const auto runner, Runner::create(*m.model, *m.device, *m.ledger,
                                              {.n_ctx = static_cast<int32_t>(n_needed),
                                               .n_ubatch = rows,
                                               .max_out_rows = job.out_path.empty() ? 1 : rows,
                                               .max_slices = 1,
                                               .kv = {k, v}},
                                              book));
  std::ofstream out;
  const std::string part = job.out_path + ".part";
  if (!job.out_path.empty()) {
    out.open(part, std::ios::binary | std::ios::trunc);
    if (!out) return fail(ErrorCode::io, "'{}': cannot write", part);
  }
  RIDGE_TRY(const LogitsResult result, evaluate(job, *runner, job.out_path.empty() ? nullptr : &out));
  if (!job.out_path.empty()) {
    out.close();
    std::error_code ec;
    if (out) std::filesystem::rename(part, job.out_path, ec);
    if (!out || ec) return fail(ErrorCode::io, "'{}': cannot write", job.out_path);
  }
  return as_json(job, result, m.device->info());
}

}  // namespace

int cmd_logits(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("logits",
          "logits at every position as raw f32, and a JSON line with the top tokens and the greedy continuation");
  ModelFlags flags;
  // A check against a reference wants no rounding of its own.
  flags.options.type_k = flags.options.type_v = "f32";
  LogitsJob job;
  add_model_flags(cli, flags);
  std::string tokens;
  cli.value("--tokens", tokens, "the prompt as token ids: 1,2,3");
  cli.value("--out", job.out_path, "file for the logits: n_tokens x n_vocab f32, little-endian");
  cli.value("--greedy", job.n_greedy, "tokens to continue with, the most likely each time", 0, 1 << 20);
  cli.value("--top", job.n_top, "how many of the last position's tokens to list", 1, 1 << 20);
  cli.value("--ubatch", flags.options.n_ubatch, "as -ub", 1, 65536);
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = check_model_flags(flags); !ok) return report(ok.error());
  auto ids = parse_ids(tokens);
  if (!ids) return report(ids.error());
  if (ids->empty()) return report({ErrorCode::invalid_argument, "no tokens: give the prompt as --tokens 1,2,3"});
  job.tokens = std::move(*ids);
  const auto text = run_job(flags, job);
  if (!text) return report(text.error());
  return put(*text) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
