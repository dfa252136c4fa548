#include "bench_flags.h"

#include <algorithm>

namespace ridge::app {
namespace {

constexpr int kMaxTokens = 1 << 20;

void add_closer_looks(Cli& cli, BenchFlags& f) {
  cli.flag("--ops", f.is_ops, "each verb of a step of -p rows and of one row: time, bytes, operations, share of roof");
  cli.flag("--batched", f.is_batched, "many sequences at once, as llama-batched-bench: -npp, -ntg, -npl");
  const auto numbers = [&cli](const char* name, std::vector<int>& out, int min, int max, const char* help) {
    cli.setter(
        name, [&out, min, max](std::string_view v) { return bench::add_numbers(v, min, max, out); }, help, "");
  };
  numbers("-npp", f.batched.n_prompt, 0, kMaxTokens, "--batched: prompt tokens of each sequence");
  numbers("-ntg", f.batched.n_gen, 0, kMaxTokens, "--batched: tokens that each sequence generates");
  numbers("-npl", f.batched.n_parallel, 1, 1024, "--batched: sequences at once");
  cli.flag("-pps", f.batched.shared_prompt, "--batched: one prompt, which all sequences share");
}

}  // namespace

void add_bench_flags(Cli& cli, BenchFlags& f) {
  bench::Axes& a = f.axes;
  const auto numbers = [&cli](const char* names, std::vector<int>& out, int min, int max, const char* help,
                              const char* usual) {
    cli.setter(
        names, [&out, min, max](std::string_view v) { return bench::add_numbers(v, min, max, out); }, help, usual);
  };
  const auto words = [&cli](const char* names, std::vector<std::string>& out, const char* help, const char* usual) {
    cli.setter(
        names, [&out](std::string_view v) { return bench::add_words(v, out); }, help, usual);
  };
  words("-m, --model", a.models, "GGUF files; without it the built-in model", "");
  numbers("-p, --n-prompt", a.n_prompt, 0, kMaxTokens, "prompt lengths; 0 = no such test", "512");
  numbers("-n, --n-gen", a.n_gen, 0, kMaxTokens, "tokens to generate; 0 = no such test", "128");
  cli.setter(
      "-pg", [&a](std::string_view v) { return bench::add_pair(v, kMaxTokens, a.prompt_gen); },
      "PP,TG: a prompt and generation in one test; may be repeated", "");
  numbers("-d, --n-depth", a.n_depth, 0, kMaxTokens, "positions that are in the KV cache before each test", "0");
  numbers("-b, --batch-size", a.n_batch, 1, kMaxTokens, "tokens handed over at once", "2048");
  numbers("-ub, --ubatch-size", a.n_ubatch, 1, 65536, "most tokens a step", "512");
  numbers("-t, --threads", a.n_threads, 0, 1024, "threads; 0 = by affinity, cgroup quota and physical cores", "0");
  words("-ctk, --cache-type-k", a.type_k, "types of cached keys: f32 f16 bf16 q8_0 q4_0", "f16");
  words("-ctv, --cache-type-v", a.type_v, "types of cached values", "f16");
  cli.setter(
      "-fa, --flash-attn", [&a](std::string_view v) { return bench::add_flash_attn(v, a.flash_attn); },
      "on, off, auto; accepted for familiarity: attention is always computed in blocks", "auto");
  cli.value("-r, --repetitions", f.n_repetitions, "timed runs of each test", 1, 100000);
  cli.setter(
      "-o, --output",
      [&f](std::string_view v) -> Result<void> {
        RIDGE_TRY(f.format, bench::parse_output_format(v));
        return {};
      },
      "md, csv, json, jsonl or sql", "md");
  cli.setter(
      "-ngl, --n-gpu-layers",
      [](std::string_view v) -> Result<void> {
        std::vector<int> ignored;
        return bench::add_numbers(v, 0, 1 << 20, ignored);
      },
      "accepted for familiarity: no GPU backend is built in", "0");
  cli.value("--backend", f.backend, "cpu, or reference (slow, exact)");
  cli.value("--isa", f.isa, "instruction set of the kernels; empty = the best here");
  cli.setter(
      "--roofs",
      [&f](std::string_view v) -> Result<void> {
        f.use_roofs = v == "on";
        if (v == "on" || v == "off") return {};
        return fail(ErrorCode::invalid_argument, "found '{}', expected on or off", v);
      },
      "on: shares of this machine's roofs, measured first (seconds) where none are kept; off: no shares", "on");
  cli.optional_setter(
      "--no-warmup",
      [&f](std::string_view) -> Result<void> {
        f.warmup = false;
        return {};
      },
      "no untimed run before the timed ones");
  add_closer_looks(cli, f);
}

Result<void> check_bench_flags(const BenchFlags& f) {
  if (!f.is_batched && !f.is_ops) return {};
  const std::string_view name = f.is_batched ? "--batched" : "--ops";
  if (f.is_batched && f.is_ops) return fail(ErrorCode::invalid_argument, "--batched and --ops are two different looks");
  const bench::Axes& a = f.axes;
  const size_t longest =
      std::max({a.models.size(), a.n_threads.size(), a.n_batch.size(), a.n_ubatch.size(), a.type_k.size(),
                a.type_v.size(), a.n_prompt.size(), a.n_gen.size(), a.n_depth.size(), a.flash_attn.size()});
  if (longest > 1) {
    return fail(ErrorCode::invalid_argument, "{} takes one value of each option, found a list of {}", name, longest);
  }
  const bench::OutputFormat other = f.is_batched ? bench::OutputFormat::jsonl : bench::OutputFormat::json;
  if (f.format == bench::OutputFormat::md || f.format == other) return {};
  return fail(ErrorCode::invalid_argument, "{} prints md or {}", name, f.is_batched ? "jsonl" : "json");
}

}  // namespace ridge::app
