#include "bench/ops.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "account/statistics.h"

namespace ridge::bench {
namespace {

double median(const std::vector<double>& samples) {
  return samples.empty() ? 0.0 : nearest_rank(sorted_samples(samples), 0.5);
}

struct Phase {
  std::vector<OpRow> rows;
  double step_s = 0;
};

// The roof that bounds a verb. What a verb reads is compared with the roof of memory only where the whole step does not
// fit into the caches.
void judge(OpRow& row, PeakType type, const Roofs& roofs, bool from_memory) {
  const double bytes = row.cost.weight_bytes + row.cost.kv_read_bytes;
  const auto& peak = roofs.ops_s[static_cast<size_t>(type)];
  if (!peak || (from_memory && !roofs.read_bytes_s)) return;
  const double compute_s = row.cost.flops / *peak;
  const double read_s = from_memory ? bytes / *roofs.read_bytes_s : 0.0;
  row.ideal_s = std::max(compute_s, read_s);
  row.bound = read_s > compute_s ? "read" : compute_s > 0 ? std::string(to_string(type)) : "";
}

// Sums the verbs of a step by label and kernel, and takes each sum's median over the steps.
Phase gather(const Rig& rig, std::string_view name, const std::vector<std::vector<int64_t>>& steps,
             const std::vector<double>& step_s, const Roofs& roofs) {
  const Program& program = rig.program();
  Work work;
  work.add(program);
  const bool from_memory = work.read_bytes() > 4.0 * static_cast<double>(roofs.cache_bytes);
  std::map<std::pair<std::string, std::string>, size_t> place;
  Phase phase;
  std::vector<PeakType> types;
  std::vector<std::vector<double>> seconds;
  for (size_t v = 0; v < program.verbs.size(); ++v) {
    const Verb& verb = program.verbs[v];
    const std::string kernel = rig.describe(verb);
    const auto [it, is_new] = place.try_emplace({std::string(verb.label), kernel}, phase.rows.size());
    if (is_new) {
      phase.rows.push_back({.phase = std::string(name),
                            .verb = std::string(verb_name(verb.body)),
                            .label = std::string(verb.label),
                            .kernel = kernel,
                            .n_calls = 0,
                            .cost = {},
                            .seconds = 0,
                            .ideal_s = {},
                            .bound = {}});
      types.push_back(peak_type_of(verb));
      seconds.emplace_back(steps.size(), 0.0);
    }
    OpRow& row = phase.rows[it->second];
    ++row.n_calls;
    row.cost += verb.cost;
    for (size_t s = 0; s < steps.size(); ++s) seconds[it->second][s] += static_cast<double>(steps[s][v]) * 1e-9;
  }
  for (size_t i = 0; i < phase.rows.size(); ++i) {
    phase.rows[i].seconds = median(seconds[i]);
    judge(phase.rows[i], types[i], roofs, from_memory);
  }
  std::stable_sort(phase.rows.begin(), phase.rows.end(),
                   [](const OpRow& a, const OpRow& b) { return a.seconds > b.seconds; });
  phase.step_s = median(step_s);
  return phase;
}

// n_steps steps of `rows` rows each after `depth` positions; the first is a warm-up.
Result<Phase> measure(Rig& rig, std::string_view name, int depth, int rows, int n_steps, const Roofs& roofs) {
  std::vector<std::vector<int64_t>> steps;
  std::vector<double> step_s;
  for (int i = 0; i <= n_steps; ++i) {
    // Every step at the same depth: its work is the same.
    rig.clear();
    Meter before, meter;
    if (depth > 0) RIDGE_CHECK_OK(rig.feed({&depth, 1}, before));
    std::vector<int64_t> verb_ns;
    meter.verb_ns = &verb_ns;
    RIDGE_CHECK_OK(rig.feed({&rows, 1}, meter));
    if (i == 0) continue;
    steps.push_back(std::move(verb_ns));
    step_s.push_back(static_cast<double>(meter.ns) * 1e-9);
  }
  return gather(rig, name, steps, step_s, roofs);
}

}  // namespace

Result<OpsReport> run_ops(const OpsOptions& o, const Ceilings* ceilings) {
  RIDGE_TRY(const auto rig, Rig::open(o.rig));
  OpsReport report;
  report.n_threads = rig->device().n_threads;
  report.isa = rig->device().isa;
  report.model = rig->loaded().info;
  report.prefill_rows = std::min({o.n_prompt, o.n_batch, o.n_ubatch});
  Roofs roofs;
  if (ceilings != nullptr) roofs = roofs_for(*ceilings, report.n_threads);
  RIDGE_CHECK_OK(rig->arrange({.n_ctx = o.n_depth + std::max(1, report.prefill_rows),
                               .n_batch = o.n_batch,
                               .n_ubatch = o.n_ubatch,
                               .n_sequences = 1,
                               .type_k = o.type_k,
                               .type_v = o.type_v}));
  if (report.prefill_rows > 0) {
    RIDGE_TRY(Phase p, measure(*rig, "prefill", o.n_depth, report.prefill_rows, o.n_repetitions, roofs));
    report.prefill_step_s = p.step_s;
    report.rows = std::move(p.rows);
  }
  if (o.n_gen > 0) {
    RIDGE_TRY(Phase p, measure(*rig, "decode", o.n_depth, 1, std::max(o.n_gen, o.n_repetitions), roofs));
    report.decode_step_s = p.step_s;
    report.rows.insert(report.rows.end(), p.rows.begin(), p.rows.end());
  }
  return report;
}

std::string ops_table(const OpsReport& r) {
  std::string out;
  std::string_view phase;
  double sum_s = 0;
  const auto close = [&] {
    if (phase.empty()) return;
    const double step_s = phase == "prefill" ? r.prefill_step_s : r.decode_step_s;
    out += fmt::format("{:<22} {:>5} {:>10.3f} {:>7}   whole step {:.3f} ms; outside the verbs {:.3f} ms\n\n", "sum",
                       "", sum_s * 1e3, "", step_s * 1e3, (step_s - sum_s) * 1e3);
    sum_s = 0;
  };
  for (const OpRow& row : r.rows) {
    const double step_s = row.phase == "prefill" ? r.prefill_step_s : r.decode_step_s;
    if (row.phase != phase) {
      close();
      phase = row.phase;
      out += fmt::format("{}: a step of {} row{}, {} threads, {}{}\n", phase, phase == "prefill" ? r.prefill_rows : 1,
                         phase == "prefill" && r.prefill_rows > 1 ? "s" : "", r.n_threads, r.isa.empty() ? "-" : r.isa,
                         r.model.is_synthetic ? "; synthetic weights, speed only" : "");
      out += fmt::format("{:<22} {:>5} {:>10} {:>7} {:>10} {:>8} {:>9} {:>8} {:>6}  {}\n", "op", "calls", "ms", "share",
                         "MB read", "GB/s", "GOP/s", "of roof", "roof", "kernel");
    }
    sum_s += row.seconds;
    const double bytes = row.cost.weight_bytes + row.cost.kv_read_bytes;
    const double s = std::max(row.seconds, 1e-12);
    out += fmt::format("{:<22} {:>5} {:>10.3f} {:>5.1f} % {:>10.3f} {:>8.2f} {:>9.2f} {:>8} {:>6}  {}\n", row.label,
                       row.n_calls, row.seconds * 1e3, 100.0 * row.seconds / std::max(step_s, 1e-12), bytes * 1e-6,
                       bytes / s * 1e-9, row.cost.flops / s * 1e-9,
                       row.ideal_s ? fmt::format("{:.1f} %", 100.0 * *row.ideal_s / s) : "n/a",
                       row.bound.empty() ? "-" : row.bound, row.kernel);
  }
  close();
  return out;
}

std::string ops_json(const OpsReport& r) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const OpRow& row : r.rows) {
    rows.push_back({{"phase", row.phase},
                    {"verb", row.verb},
                    {"label", row.label},
                    {"kernel", row.kernel},
                    {"n_calls", row.n_calls},
                    {"seconds", row.seconds},
                    {"flops", row.cost.flops},
                    {"weight_bytes", row.cost.weight_bytes},
                    {"kv_read_bytes", row.cost.kv_read_bytes},
                    {"kv_write_bytes", row.cost.kv_write_bytes},
                    {"activation_bytes", row.cost.activation_bytes},
                    {"ideal_s", row.ideal_s ? Json(*row.ideal_s) : Json(nullptr)},
                    {"bound", row.bound.empty() ? Json(nullptr) : Json(row.bound)}});
  }
  const Json doc = {{"model", r.model.path},
                    {"synthetic", r.model.is_synthetic},
                    {"n_threads", r.n_threads},
                    {"isa", r.isa},
                    {"prefill_rows", r.prefill_rows},
                    {"prefill_step_s", r.prefill_rows > 0 ? Json(r.prefill_step_s) : Json(nullptr)},
                    {"decode_step_s", r.decode_step_s > 0 ? Json(r.decode_step_s) : Json(nullptr)},
                    {"ops", rows}};
  return doc.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ridge::bench
