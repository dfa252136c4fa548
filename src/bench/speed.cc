#include "bench/speed.h"

#include <array>
#include <ctime>

#include "base/clock.h"
#include "bench/file_type.h"

namespace ridge::bench {
namespace {

// One timed run; prompt and generation apart, for their work differs.
struct Repetition {
  Meter prompt, gen;
};

Result<Repetition> repeat_once(Rig& rig, const Case& c, int n_prompt, int n_gen) {
  rig.clear();
  Meter untimed;
  Repetition r;
  if (c.n_depth > 0) RIDGE_CHECK_OK(rig.feed({&c.n_depth, 1}, untimed));
  if (n_prompt > 0) RIDGE_CHECK_OK(rig.feed({&n_prompt, 1}, r.prompt));
  const int one = 1;
  for (int i = 0; i < n_gen; ++i) RIDGE_CHECK_OK(rig.feed({&one, 1}, r.gen));
  return r;
}

ModelFacts facts_of(const Rig& rig, const std::string& path) {
  const ModelInfo& info = rig.loaded().info;
  ModelFacts f{.filename = path,
               .type = model_type(rig.loaded()),
               .n_bytes = 0,
               .n_params = info.n_params,
               .is_synthetic = rig.is_synthetic()};
  for (const FormatShare& s : info.formats) f.n_bytes += s.n_bytes;
  return f;
}

Result<SpeedResult> run_case(Rig& rig, const Case& c, const SpeedOptions& options) {
  const Layout layout{.n_ctx = c.n_depth + c.n_prompt + c.n_gen,
                      .n_batch = c.n_batch,
                      .n_ubatch = c.n_ubatch,
                      .n_sequences = 1,
                      .type_k = c.type_k,
                      .type_v = c.type_v};
  RIDGE_CHECK_OK(rig.arrange(layout));
  const DeviceInfo device = rig.device();
  SpeedResult r;
  r.what = c;
  r.model = facts_of(rig, c.model);
  r.n_threads = device.n_threads, r.backend = device.name, r.isa = device.isa;
  r.kernels = rig.kernels();
  r.test_time = utc_time();
  if (options.warmup) {
    // As llama-bench: the whole prompt once, one token of generation; at its depth 0, for pages and clocks alone.
    Case warm = c;
    warm.n_depth = 0;
    RIDGE_TRY(const Repetition w, repeat_once(rig, warm, c.n_prompt, std::min(c.n_gen, 1)));
    r.warmup_ns = w.prompt.ns + w.gen.ns;
  }
  for (int i = 0; i < options.n_repetitions; ++i) {
    RIDGE_TRY(const Repetition rep, repeat_once(rig, c, c.n_prompt, c.n_gen));
    r.samples_ns.push_back(std::max<int64_t>(1, rep.prompt.ns + rep.gen.ns));
    r.prompt = rep.prompt.work, r.gen = rep.gen.work;
  }
  r.roofs = options.ceilings != nullptr ? roofs_for(*options.ceilings, r.n_threads) : Roofs{};
  if (options.ceilings == nullptr) r.roofs.reason = options.no_roofs_reason;
  r.read = read_share(r.total(), r.median_s(), r.roofs);
  r.arithmetic = arithmetic_share(r.total(), r.median_s(), r.roofs);
  return r;
}

}  // namespace

std::string utc_time() {
  const std::time_t t = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&t, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::vector<double> SpeedResult::samples_ts() const {
  std::vector<double> ts;
  for (const int64_t ns : samples_ns) ts.push_back(1e9 * n_tokens() / static_cast<double>(ns));
  return ts;
}

double SpeedResult::median_s() const {
  const std::vector<double> ns(samples_ns.begin(), samples_ns.end());
  return ns.empty() ? 0.0 : nearest_rank(sorted_samples(ns), 0.5) * 1e-9;
}

Work SpeedResult::total() const {
  Work w = prompt;
  w.traffic += gen.traffic;
  for (size_t i = 0; i < w.flops.size(); ++i) w.flops[i] += gen.flops[i];
  w.n_steps += gen.n_steps;
  return w;
}

std::string model_type(const LoadedModel& loaded) {
  const ModelInfo& info = loaded.info;
  const auto size = loaded.file->get_or<std::string_view>("general.size_label", "");
  const auto number = static_cast<double>(info.n_params);
  const std::string label = size && !size->empty() ? std::string(*size)
                            : number >= 1e9        ? fmt::format("{:.1f}B", number * 1e-9)
                            : number >= 1e6        ? fmt::format("{:.0f}M", number * 1e-6)
                                                   : fmt::format("{:.0f}K", number * 1e-3);
  const auto type = loaded.file->get_optional<uint32_t>("general.file_type");
  const std::string named = type && *type ? file_type_name(**type) : "";
  // Without the key: the format that holds most of the bytes.
  const FormatShare* most = nullptr;
  for (const FormatShare& s : info.formats) {
    if (most == nullptr || s.n_bytes > most->n_bytes) most = &s;
  }
  return fmt::format("{} {} {}", info.architecture, label,
                     !named.empty()    ? named
                     : most != nullptr ? most->format
                                       : std::string("?"));
}

Result<void> run_speed(std::span<const Case> cases, const SpeedOptions& options) {
  std::unique_ptr<Rig> rig;
  const Case* opened = nullptr;
  for (const Case& c : cases) {
    if (opened == nullptr || opened->model != c.model || opened->n_threads != c.n_threads) {
      rig.reset();
      RigOptions o = options.rig;
      o.model_path = c.model, o.n_threads = c.n_threads;
      RIDGE_TRY(rig, Rig::open(o));
      opened = &c;
    }
    RIDGE_TRY(const SpeedResult r, run_case(*rig, c, options));
    if (options.on_result) options.on_result(r);
  }
  return {};
}

}  // namespace ridge::bench
