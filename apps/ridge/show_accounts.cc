#include "show_accounts.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace ridge::app {
namespace {

double rate(double n, double ms) {
  return ms > 0 ? n / ms * 1000.0 : 0.0;
}

std::string perf_line(const char* name, double ms, uint64_t n, const char* unit) {
  return fmt::format("{}{:>10.2f} ms / {:5} {}   ({:8.2f} ms per token, {:8.2f} tokens per second)\n", name, ms, n,
                     unit, n > 0 ? ms / static_cast<double>(n) : 0.0, rate(static_cast<double>(n), ms));
}

double stage_ms(const TimeBudget& budget, std::string_view name) {
  for (const StageTime& s : budget.stages) {
    if (s.name == name) return s.ms;
  }
  return 0;
}

std::string time_table(const RunAccount& a, const Style& style) {
  Table table({"stage", "ms", "share", "spans"}, {false, true, true, true});
  for (const StageTime& s : a.whole.stages) {
    table.row({s.name, fmt::format("{:.3f}", s.ms), fmt::format("{:.1f} %", 100.0 * s.ms / a.whole.elapsed_ms),
               std::to_string(s.n)});
  }
  table.rule();
  table.row({"residual", fmt::format("{:.3f}", a.whole.residual_ms),
             fmt::format("{:.1f} %", 100.0 * a.whole.residual_ms / a.whole.elapsed_ms), ""});
  table.row({"elapsed", fmt::format("{:.3f}", a.whole.elapsed_ms), "100 %", ""});
  return table.text(style);
}

std::string work_table(const RunAccount& a, const Style& style) {
  Table table({"phase", "tokens", "steps", "ms", "tok/s", "GFLOP", "GFLOP/s", "weights", "KV read", "GB/s"},
              {false, true, true, true, true, true, true, true, true, true});
  const auto add = [&](const char* name, const PhaseWork& w) {
    if (w.n_steps == 0) return;
    const double bytes = w.weight_bytes + w.kv_read_bytes + w.kv_write_bytes + w.activation_bytes;
    table.row({name, std::to_string(w.n_tokens), std::to_string(w.n_steps), fmt::format("{:.2f}", w.forward_ms),
               fmt::format("{:.1f}", rate(static_cast<double>(w.n_tokens), w.forward_ms)),
               fmt::format("{:.3f}", w.flops * 1e-9), fmt::format("{:.1f}", rate(w.flops * 1e-9, w.forward_ms)),
               human_bytes(static_cast<uint64_t>(w.weight_bytes)), human_bytes(static_cast<uint64_t>(w.kv_read_bytes)),
               fmt::format("{:.2f}", rate(bytes * 1e-9, w.forward_ms))});
  };
  add("prefill", a.request.prefill);
  add("decode", a.request.decode);
  return table.text(style);
}

std::string memory_table(const RunAccount& a, const Style& style) {
  Table table({"owner", "part", "predicted", "now", "peak"}, {false, false, true, true, true});
  for (const MemoryLine& l : a.memory.lines) {
    table.row({l.owner, l.detail, l.predicted_bytes > 0 ? human_bytes(l.predicted_bytes) : "-",
               human_bytes(l.current_bytes), human_bytes(l.peak_bytes)});
  }
  table.rule();
  table.row({"sum", "", human_bytes(a.memory.predicted_bytes), human_bytes(a.memory.tagged_bytes), ""});
  const auto known = [](uint64_t n) { return n > 0 ? human_bytes(n) : std::string("not said"); };
  return table.text(style) +
         fmt::format(
             "  the system says: resident {} (anonymous {}, file pages {}), proportional {}, peak resident {}\n",
             known(a.memory.rss_bytes), known(a.memory.anonymous_bytes), known(a.memory.file_bytes),
             known(a.memory.pss_bytes), known(a.memory.peak_rss_bytes));
}

nlohmann::ordered_json json_of(const TimeBudget& b) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageTime& s : b.stages) stages.push_back({{"name", s.name}, {"ms", s.ms}, {"n", s.n}});
  return {{"elapsed_ms", b.elapsed_ms}, {"residual_ms", b.residual_ms}, {"closes", b.closes}, {"stages", stages}};
}

nlohmann::ordered_json json_of(const PhaseWork& w) {
  return {{"n_tokens", w.n_tokens},
          {"n_steps", w.n_steps},
          {"forward_ms", w.forward_ms},
          {"flops", w.flops},
          {"bytes",
           {{"weights", w.weight_bytes},
            {"kv_read", w.kv_read_bytes},
            {"kv_write", w.kv_write_bytes},
            {"activations", w.activation_bytes}}}};
}

nlohmann::ordered_json json_of(const MemoryBook& m) {
  const auto known = [](uint64_t n) { return n > 0 ? nlohmann::ordered_json(n) : nlohmann::ordered_json(nullptr); };
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const MemoryLine& l : m.lines) {
    lines.push_back({{"owner", l.owner},
                     {"detail", l.detail},
                     {"predicted_bytes", known(l.predicted_bytes)},
                     {"current_bytes", l.current_bytes},
                     {"peak_bytes", l.peak_bytes}});
  }
  return {{"lines", lines},
          {"predicted_bytes", m.predicted_bytes},
          {"tagged_bytes", m.tagged_bytes},
          {"system",
           {{"rss_bytes", known(m.rss_bytes)},
            {"pss_bytes", known(m.pss_bytes)},
            {"anonymous_bytes", known(m.anonymous_bytes)},
            {"file_bytes", known(m.file_bytes)},
            {"peak_rss_bytes", known(m.peak_rss_bytes)}}}};
}

}  // namespace

std::string perf_block(const RunAccount& a) {
  const double load_ms = a.load.time.elapsed_ms;
  const double sampling_ms = stage_ms(a.request.time, "sample");
  const PhaseWork& p = a.request.prefill;
  const PhaseWork& d = a.request.decode;
  const double total = a.request.time.elapsed_ms;
  const double unaccounted = total - sampling_ms - p.forward_ms - d.forward_ms;
  std::string out;
  out += fmt::format("common_perf_print:    sampling time = {:>10.2f} ms\n", sampling_ms);
  out += fmt::format("common_perf_print:    samplers time = {:>10.2f} ms / {:5} tokens\n", sampling_ms,
                     a.request.n_output);
  out += fmt::format("common_perf_print:        load time = {:>10.2f} ms\n", load_ms);
  out += perf_line("common_perf_print: prompt eval time = ", p.forward_ms, p.n_tokens, "tokens");
  out += perf_line("common_perf_print:        eval time = ", d.forward_ms, d.n_tokens, "runs");
  out += fmt::format("common_perf_print:       total time = {:>10.2f} ms / {:5} tokens\n", total,
                     a.request.n_prompt + a.request.n_output);
  out += fmt::format(
      "common_perf_print: unaccounted time = {:>10.2f} ms / {:5.1f} %      (total - sampling - prompt eval - eval) / "
      "(total)\n",
      unaccounted, total > 0 ? 100.0 * unaccounted / total : 0.0);
  out += fmt::format("common_perf_print:    graphs reused = {:>10}\n", 0);
  return out;
}

std::string account_tables(const RunAccount& a, const Style& style) {
  std::string out;
  out += style.bold("what ran") + "\n";
  out += fmt::format("  {}  {} ({} parameters, {})\n", a.model.architecture, a.model.path, grouped(a.model.n_params),
                     human_bytes(a.model.file_bytes));
  if (a.model.is_synthetic) out += "  " + style.warn("synthetic weights, speed only") + "\n";
  out += fmt::format("  backend {}, isa {}: {}\n", a.path.backend, a.path.isa, a.path.isa_reason);
  out += fmt::format("  {}\n", a.path.threads_reason);
  if (!a.path.placement_note.empty()) out += "  " + style.warn(a.path.placement_note) + "\n";
  for (const std::string& k : a.path.kernels) out += "  " + style.dim(k) + "\n";
  out += fmt::format("  file pages in the page cache before loading: {:.0f} % ({} start)\n",
                     100.0 * a.load.resident_share, a.load.file_was_resident ? "warm" : "not a warm");
  out += style.bold("time") + ", exclusive stages from process start to the end of the answer\n" + time_table(a, style);
  out += fmt::format(
      "  {}: |residual| {} max(0.2 ms, 1 % of elapsed); {:.3f} ms of writing overlapped with computing\n",
      a.whole.closes ? style.good("closes") : style.bad("open"), a.whole.closes ? "<=" : ">", a.write_overlapped_ms);
  out += style.bold("latency") + fmt::format(": TTFT {:.3f} ms (submit to first token), {} output tokens, {}",
                                             a.request.ttft_ms, a.request.n_output, a.finish_reason);
  if (a.request.token_ms.size() >= 2) {
    const double tpot =
        (a.request.token_ms.back() - a.request.token_ms.front()) / static_cast<double>(a.request.token_ms.size() - 1);
    out += fmt::format(", TPOT {:.3f} ms ({:.1f} tok/s)", tpot, rate(1.0, tpot));
  }
  out +=
      "\n" + style.bold("work") + ", from the verbs' own costs over the forward passes' time\n" + work_table(a, style);
  out += style.bold("memory") + fmt::format(", by owner (context {})\n", a.n_ctx) + memory_table(a, style);
  return out;
}

std::string account_json(const RunAccount& a, const std::string& text) {
  nlohmann::ordered_json formats = nlohmann::ordered_json::array();
  for (const FormatShare& f : a.model.formats)
    formats.push_back({{"format", f.format}, {"n_tensors", f.n_tensors}, {"n_bytes", f.n_bytes}});
  const auto& r = a.request;
  nlohmann::ordered_json doc;
  doc["schema"] = "ridge-run/1";
  doc["text"] = text;
  doc["finish_reason"] = a.finish_reason;
  doc["model"] = {{"path", a.model.path},
                  {"name", a.model.name},
                  {"architecture", a.model.architecture},
                  {"n_params", a.model.n_params},
                  {"file_bytes", a.model.file_bytes},
                  {"n_ctx", a.n_ctx},
                  {"n_ctx_train", a.model.n_ctx_train},
                  {"formats", formats},
                  {"synthetic", a.model.is_synthetic}};
  doc["path"] = {{"backend", a.path.backend},
                 {"isa", a.path.isa},
                 {"isa_reason", a.path.isa_reason},
                 {"n_threads", a.path.n_threads},
                 {"threads_reason", a.path.threads_reason},
                 {"placement_note", a.path.placement_note},
                 {"kernels", a.path.kernels}};
  // The keys of llama-server's `timings`; decode rates divide by the steps after the first token.
  const double pn = static_cast<double>(r.prefill.n_tokens), dn = static_cast<double>(r.decode.n_tokens);
  const auto per = [](double ms, double n) {
    return n > 0 ? nlohmann::ordered_json(ms / n) : nlohmann::ordered_json(nullptr);
  };
  const auto per_second = [](double n, double ms) {
    return ms > 0 && n > 0 ? nlohmann::ordered_json(n / ms * 1000.0) : nlohmann::ordered_json(nullptr);
  };
  doc["timings"] = {{"cache_n", 0},
                    {"prompt_n", r.prefill.n_tokens},
                    {"prompt_ms", r.prefill.forward_ms},
                    {"prompt_per_token_ms", per(r.prefill.forward_ms, pn)},
                    {"prompt_per_second", per_second(pn, r.prefill.forward_ms)},
                    {"predicted_n", r.n_output},
                    {"predicted_ms", r.decode.forward_ms},
                    {"predicted_per_token_ms", per(r.decode.forward_ms, dn)},
                    {"predicted_per_second", per_second(dn, r.decode.forward_ms)}};
  doc["accounts"] = {{"whole", json_of(a.whole)},
                     {"load", json_of(a.load.time)},
                     {"request", json_of(r.time)},
                     {"write_overlapped_ms", a.write_overlapped_ms},
                     {"ttft_ms", r.n_output > 0 ? nlohmann::ordered_json(r.ttft_ms) : nullptr},
                     {"token_ms", r.token_ms},
                     {"prefill", json_of(r.prefill)},
                     {"decode", json_of(r.decode)},
                     {"memory", json_of(a.memory)},
                     {"resident_share_before_load", a.load.resident_share}};
  return doc.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace ridge::app
