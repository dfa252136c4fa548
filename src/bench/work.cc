#include "bench/work.h"

#include <algorithm>

namespace ridge::bench {
namespace {

// Below this many times the largest cache a part of what is read is still there from the step before.
constexpr double kBeyondCache = 4.0;

size_t idx(PeakType type) {
  return static_cast<size_t>(type);
}

}  // namespace

PeakType peak_type_of(DType weights) {
  if (weights == DType::bf16) return PeakType::bf16;
  if (weights == DType::f32 || weights == DType::f16) return PeakType::f32;
  return PeakType::int8;
}

PeakType peak_type_of(const Verb& verb) {
  if (const auto* m = std::get_if<verb::MatMul>(&verb.body)) return peak_type_of(m->w->dtype());
  if (const auto* m = std::get_if<verb::ExpertMatMul>(&verb.body)) return peak_type_of(m->w->dtype());
  return PeakType::f32;
}

void Work::add(const Verb& verb) {
  traffic += verb.cost;
  flops[idx(peak_type_of(verb))] += verb.cost.flops;
}

void Work::add(const Program& program) {
  for (const Verb& v : program.verbs) add(v);
  ++n_steps;
}

Roofs roofs_for(const Ceilings& c, int n_threads) {
  Roofs r;
  r.read_bytes_s = read_roof(c, n_threads);
  // int8 falls back to bf16 and that to f32, as the kernels do where an instruction is missing.
  for (const PeakType t : {PeakType::f32, PeakType::bf16, PeakType::int8}) {
    r.ops_s[idx(t)] = peak_roof(c, t, n_threads);
    if (!r.ops_s[idx(t)] && t != PeakType::f32) r.ops_s[idx(t)] = r.ops_s[idx(t) + 1];
  }
  for (const CacheRoof& cache : c.caches) r.cache_bytes = std::max(r.cache_bytes, cache.n_bytes);
  return r;
}

Share read_share(const Work& w, double seconds, const Roofs& roofs) {
  if (!roofs.read_bytes_s) return {{}, roofs.reason.empty() ? "no read bandwidth was measured" : roofs.reason};
  if (w.n_steps == 0 || seconds <= 0) return {{}, "nothing ran"};
  const double a_step = w.read_bytes() / w.n_steps;
  if (a_step < kBeyondCache * static_cast<double>(roofs.cache_bytes)) {
    return {{},
            fmt::format("a step reads {:.1f} MB, and a part of less than {:.0f} times the largest cache ({:.0f} MB) "
                        "stays in it: memory is not what bounds it",
                        a_step * 1e-6, kBeyondCache, static_cast<double>(roofs.cache_bytes) * 1e-6)};
  }
  return {w.read_bytes() / *roofs.read_bytes_s / seconds, {}};
}

Share arithmetic_share(const Work& w, double seconds, const Roofs& roofs) {
  if (seconds <= 0) return {{}, "nothing ran"};
  double ideal_s = 0;
  for (size_t t = 0; t < w.flops.size(); ++t) {
    if (w.flops[t] == 0) continue;
    if (!roofs.ops_s[t]) return {{}, roofs.reason.empty() ? "no peak was measured" : roofs.reason};
    ideal_s += w.flops[t] / *roofs.ops_s[t];
  }
  return {ideal_s / seconds, {}};
}

}  // namespace ridge::bench
