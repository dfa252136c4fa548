// ridge logits: the model's answer before any sampling, for checking the engine against a reference.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "command.h"
#include "engine/loader.h"
#include "engine/runner.h"
#include "kv/block_table.h"

namespace ridge::app {
namespace {

struct LogitsJob {
  std::vector<int32_t> tokens;
  int n_greedy = 0, n_top = 10;
  std::string out_path;
};

struct LogitsResult {
  std::vector<float> last;             // of the last position of the prompt
  std::vector<int32_t> greedy;
};

int32_t best_of(std::span<const float> row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

Result<LogitsResult> evaluate(const LogitsJob& job, Runner& runner, std::ofstream* out) {
  LogitsResult result;
  const auto n = static_cast<int32_t>(job.tokens.size());
  std::vector<int32_t> tokens = job.tokens;
  BlockTable table(runner.pool(), n + job.n_greedy);
  RIDGE_CHECK_OK(table.grow(n + job.n_greedy));
  std::vector<int32_t> out_rows(static_cast<size_t>(runner.options().max_out_rows));
  const auto step = [&](int32_t pos, int32_t count, bool all) -> Result<MatrixView<const float>> {
    const int32_t n_out = all ? count : 1;
    std::iota(out_rows.begin(), out_rows.begin() + n_out, count - n_out);
    const Slice slice{.tokens = std::span(tokens).subspan(static_cast<size_t>(pos), static_cast<size_t>(count)), .pos0 = pos,
                      .blocks = table.blocks()};
    return runner.forward({&slice, 1}, {out_rows.data(), static_cast<size_t>(n_out)});
  };
  for (int32_t pos = 0; pos < n;) {
    const int32_t count = std::min(runner.options().n_ubatch, n - pos);
    RIDGE_TRY(const auto logits, step(pos, count, out != nullptr));
    for (int64_t r = 0; out != nullptr && r < logits.rows; ++r) {
      out->write(reinterpret_cast<const char*>(logits.row(r)), static_cast<std::streamsize>(logits.cols * 4));
    }
    pos += count;
    if (pos == n) result.last.assign(logits.row(logits.rows - 1), logits.row(logits.rows - 1) + logits.cols);
  }
  for (int i = 0; i < job.n_greedy; ++i) {
    tokens.push_back(i == 0 ? best_of(result.last) : result.greedy.back());
    if (i == 0) result.greedy.push_back(tokens.back());
    if (static_cast<int>(result.greedy.size()) == job.n_greedy) break;
    RIDGE_TRY(const auto logits, step(n + i, 1, false));
    result.greedy.push_back(best_of({logits.row(0), static_cast<size_t>(logits.cols)}));
  }
  return result;
}

std::string as_json(const LogitsJob& job, const LogitsResult& r, const DeviceInfo& device) {
  std::vector<int32_t> order(r.last.size());
  std::iota(order.begin(), order.end(), 0);
  const auto n_top = std::min<size_t>(order.size(), static_cast<size_t>(job.n_top));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_top), order.end(), [&](int32_t a, int32_t b) {
    const float x = r.last[static_cast<size_t>(a)], y = r.last[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  const double top = r.last[static_cast<size_t>(order[0])];
  double sum = 0;
  for (const float x : r.last) sum += std::exp(x - top);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < n_top; ++i) {
    const double x = r.last[static_cast<size_t>(order[i])];
    list.push_back({{"id", order[i]}, {"logit", x}, {"logprob", x - top - std::log(sum)}});
  }
  const nlohmann::ordered_json doc = {{"n_tokens", job.tokens.size()}, {"n_vocab", r.last.size()}, {"backend", device.name}, {"isa", device.isa},
                                      {"top", list}, {"greedy", r.greedy}};
  return doc.dump() + "\n";
}

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
                                              {.n_ctx = static_cast<int32_t>(n_needed), .n_ubatch = rows,
                                               .max_out_rows = job.out_path.empty() ? 1 : rows, .max_slices = 1, .kv = {k, v}}, book));
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
  Cli cli("logits", "logits at every position as raw f32, and a JSON line with the top tokens and the greedy continuation");
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
