// Source of the columns and keys: llama-batched-bench (llama.cpp, tools/batched-bench).
#include "bench/batched.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ridge::bench {
namespace {

int kv_positions(const BatchedOptions& o, int pp, int tg, int pl) {
  return (o.shared_prompt ? pp : pl * pp) + pl * tg;
}

double over(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : 0.0;
}

Result<BatchedRow> run_cell(Rig& rig, const BatchedOptions& o, int pp, int tg, int pl) {
  RIDGE_CHECK_OK(rig.arrange({.n_ctx = kv_positions(o, pp, tg, pl),
                              .n_batch = o.n_batch,
                              .n_ubatch = o.n_ubatch,
                              .n_sequences = pl,
                              .type_k = o.type_k,
                              .type_v = o.type_v}));
  // Pages and clocks, before anything is timed.
  Meter warm, prompt, gen;
  std::vector<int> first(static_cast<size_t>(pl), 0);
  first[0] = std::max(1, std::min(16, pp));
  RIDGE_CHECK_OK(rig.feed(first, warm));
  rig.clear();

  std::vector<int> counts(static_cast<size_t>(pl), pp);
  if (o.shared_prompt) std::fill(counts.begin() + 1, counts.end(), 0);
  if (pp > 0) RIDGE_CHECK_OK(rig.feed(counts, prompt));
  for (int s = 1; o.shared_prompt && s < pl; ++s) rig.share(0, s, pp);
  const std::vector<int> ones(static_cast<size_t>(pl), 1);
  for (int i = 0; i < tg; ++i) RIDGE_CHECK_OK(rig.feed(ones, gen));
  return BatchedRow{.pp = pp,
                    .tg = tg,
                    .pl = pl,
                    .n_kv = kv_positions(o, pp, tg, pl),
                    .shared_prompt = o.shared_prompt,
                    .t_pp_s = static_cast<double>(prompt.ns) * 1e-9,
                    .t_tg_s = static_cast<double>(gen.ns) * 1e-9,
                    .prompt = prompt.work,
                    .gen = gen.work};
}

nlohmann::ordered_json number_or_null(const std::optional<double>& x) {
  return x ? nlohmann::ordered_json(*x) : nlohmann::ordered_json(nullptr);
}

}  // namespace

double BatchedRow::speed_pp() const {
  return over(static_cast<double>(shared_prompt ? pp : pl * pp), t_pp_s);
}
double BatchedRow::speed_tg() const {
  return over(1.0 * pl * tg, t_tg_s);
}
double BatchedRow::speed() const {
  return over(static_cast<double>(n_kv), t_s());
}

Result<void> run_batched(const BatchedOptions& o, const std::function<void(const BatchedRun&)>& begin,
                         const std::function<void(const BatchedRow&)>& on_row) {
  if (o.n_prompt.empty() || o.n_gen.empty() || o.n_parallel.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--batched needs -npp, -ntg and -npl, such as -npp 128 -ntg 32 -npl 1,2,4");
  }
  BatchedRun run;
  for (const int pp : o.n_prompt) {
    if (o.shared_prompt && pp % kKvBlockPositions != 0) {
      return fail(ErrorCode::invalid_argument, "-pps: a prompt of {} cannot be shared, expected a multiple of {}", pp,
                  kKvBlockPositions);
    }
    for (const int tg : o.n_gen) {
      if (pp == 0 && tg == 0) return fail(ErrorCode::invalid_argument, "-npp 0 with -ntg 0 asks for nothing");
      for (const int pl : o.n_parallel) {
        const int64_t n = int64_t{pl} * (int64_t{pp} + tg);
        if (n > (int64_t{1} << 30)) return fail(ErrorCode::limit, "{} x ({} + {}) positions are too many", pl, pp, tg);
        run.n_kv_max = std::max(run.n_kv_max, kv_positions(o, pp, tg, pl));
      }
    }
  }
  RIDGE_TRY(const auto rig, Rig::open(o.rig));
  run.n_threads = rig->device().n_threads;
  run.isa = rig->device().isa;
  run.model = rig->loaded().info;
  begin(run);
  for (const int pp : o.n_prompt) {
    for (const int tg : o.n_gen) {
      for (const int pl : o.n_parallel) {
        RIDGE_TRY(const BatchedRow row, run_cell(*rig, o, pp, tg, pl));
        on_row(row);
      }
    }
  }
  return {};
}

std::string batched_begin(const BatchedOptions& o, const BatchedRun& run) {
  std::string out = fmt::format(
      "main: n_kv_max = {}, n_batch = {}, n_ubatch = {}, flash_attn = {}, is_pp_shared = {}, is_tg_separate = 0, "
      "n_gpu_layers = 0, n_threads = {}, n_threads_batch = {}\n\n",
      run.n_kv_max, o.n_batch, o.n_ubatch, o.flash_attn, o.shared_prompt ? 1 : 0, run.n_threads, run.n_threads);
  out += "|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |";
  out += " TG GB/s | of read |\n";
  out += "|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|";
  out += "---------|---------|\n";
  return out;
}

std::string batched_row(const BatchedRow& r, const Roofs& roofs) {
  const Share share = read_share(r.gen, r.t_tg_s, roofs);
  return fmt::format(
      "|{:6} | {:6} | {:4} | {:6} | {:8.3f} | {:8.2f} | {:8.3f} | {:8.2f} | {:8.3f} | {:8.2f} | {:7.2f} | {:>7} |\n",
      r.pp, r.tg, r.pl, r.n_kv, r.t_pp_s, r.speed_pp(), r.t_tg_s, r.speed_tg(), r.t_s(), r.speed(),
      over(r.gen.read_bytes(), r.t_tg_s) * 1e-9, share.value ? fmt::format("{:.1f} %", *share.value * 100) : "n/a");
}

std::string batched_row_jsonl(const BatchedOptions& o, const BatchedRun& run, const BatchedRow& r, const Roofs& roofs) {
  const Share share = read_share(r.gen, r.t_tg_s, roofs);
  const nlohmann::ordered_json doc = {
      {"n_kv_max", run.n_kv_max},
      {"n_batch", o.n_batch},
      {"n_ubatch", o.n_ubatch},
      {"flash_attn", o.flash_attn},
      {"is_pp_shared", o.shared_prompt ? 1 : 0},
      {"n_gpu_layers", 0},
      {"n_threads", run.n_threads},
      {"n_threads_batch", run.n_threads},
      {"pp", r.pp},
      {"tg", r.tg},
      {"pl", r.pl},
      {"n_kv", r.n_kv},
      {"t_pp", r.t_pp_s},
      {"speed_pp", r.speed_pp()},
      {"t_tg", r.t_tg_s},
      {"speed_tg", r.speed_tg()},
      {"t", r.t_s()},
      {"speed", r.speed()},
      {"ridge",
       {{"isa", run.isa},
        {"tg_read_bytes_s", over(r.gen.read_bytes(), r.t_tg_s)},
        {"tg_read_share", number_or_null(share.value)},
        {"tg_read_share_reason",
         share.reason.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(share.reason)},
        {"pp_arithmetic_share", number_or_null(arithmetic_share(r.prompt, r.t_pp_s, roofs).value)},
        {"synthetic", run.model.is_synthetic}}}};
  return doc.dump() + "\n";
}

}  // namespace ridge::bench
