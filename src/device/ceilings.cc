#include "device/ceilings.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <ctime>

#include "account/statistics.h"
#include "base/aligned_buffer.h"
#include "base/clock.h"
#include "base/thread_pool.h"

namespace ridge {
namespace {

// Changes when the probes or the rules below do, so that kept figures are not compared across.
constexpr int kMethod = 1;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMinBuffer = 256 * kMiB, kMaxBuffer = 2048 * kMiB;
// Read by each thread at a time: 4 MiB is about 0.1 ms a thread, far above the cost of a barrier. A window is as many
// of them as last 1.5 ms: long beside a barrier, short beside the turn that another program takes of a core.
constexpr uint64_t kChunk = 4 * kMiB;
constexpr int64_t kWindowNs = 1'500'000;
// A best window is believed when others came within 3 % of it; until then a probe goes on, up to three times its time.
constexpr double kNear = 0.97;
constexpr int kWitnesses = 3;
constexpr double kPatience = 3.0;
constexpr size_t kStep = 256;  // bytes that read_stream takes at a turn

Rate rate_of(const std::vector<double>& windows) {
  const std::vector<double> sorted = sorted_samples(windows);
  return {.best = sorted.back(), .median = nearest_rank(sorted, 0.5), .n_windows = static_cast<int>(sorted.size())};
}

bool is_witnessed(const std::vector<double>& rates) {
  if (rates.empty()) return false;
  const double near = *std::max_element(rates.begin(), rates.end()) * kNear;
  return std::count_if(rates.begin(), rates.end(), [&](double r) { return r >= near; }) >= kWitnesses;
}

// Runs work(thread_idx, n) on every thread in windows of kWindowNs until `seconds` are over, and gives units/s of each.
// units: what one thread does for n = 1.
template <class Work>
std::vector<double> windows(ThreadPool& pool, double seconds, double units, const Work& work) {
  int64_t n = 1;
  std::vector<double> rates;
  const int64_t begin_ns = now_ns();
  bool calibrated = false;
  const auto enough = [&] {
    const double s = static_cast<double>(now_ns() - begin_ns) * 1e-9;
    return calibrated && !rates.empty() && (s >= seconds * kPatience || (s >= seconds && is_witnessed(rates)));
  };
  while (!enough()) {
    int64_t start_ns = 0, stop_ns = 0;
    pool.run([&](int idx) {
      pool.barrier();
      if (idx == 0) start_ns = now_ns();
      work(idx, n);
      pool.barrier();
      if (idx == 0) stop_ns = now_ns();
    });
    const int64_t took_ns = std::max<int64_t>(1, stop_ns - start_ns);
    if (!calibrated && took_ns < kWindowNs && n < (int64_t{1} << 40)) {
      // Too short to time: at most eight times longer a try, for the first are slowed by cold caches and clocks.
      const double factor = static_cast<double>(kWindowNs) / static_cast<double>(took_ns);
      n = std::max(n + 1, static_cast<int64_t>(static_cast<double>(n) * std::min(8.0, factor * 1.1)));
      continue;
    }
    calibrated = true;
    rates.push_back(units * static_cast<double>(n) * pool.size() * 1e9 / static_cast<double>(took_ns));
  }
  return rates;
}

// Threads write 8 bytes a line so that pages exist and are not all the same zero page.
void touch(ThreadPool& pool, const AlignedBuffer& buffer) {
  const uint64_t n_lines = buffer.size() / 64;
  pool.run([&](int idx) {
    const uint64_t first = n_lines * static_cast<uint64_t>(idx) / static_cast<uint64_t>(pool.size());
    const uint64_t last = n_lines * static_cast<uint64_t>(idx + 1) / static_cast<uint64_t>(pool.size());
    for (uint64_t i = first; i < last; ++i) std::memcpy(buffer.data() + i * 64, &i, sizeof(i));
  });
}

uint64_t largest_cache(const Machine& m) {
  uint64_t most = 0;
  for (const CacheLevel& c : m.caches) most = std::max(most, c.n_bytes);
  return most;
}

uint64_t choose_buffer(const CeilingsOptions& options, const Machine& m, int n_threads) {
  if (options.buffer_bytes > 0) return std::max<uint64_t>(options.buffer_bytes, kStep) / kStep * kStep;
  uint64_t n = std::clamp(8 * largest_cache(m), kMinBuffer, kMaxBuffer);
  n = std::max(n, 8 * kChunk * static_cast<uint64_t>(n_threads));
  if (const auto budget = memory_budget_bytes()) n = std::min(n, *budget / 4);
  return std::max(n, kChunk) / kChunk * kChunk;
}

// Streams without end over the buffer: each thread takes the next chunk of its own part.
ReadRoof measure_read(ThreadPool& pool, const AlignedBuffer& buffer, double seconds) {
  const auto n_threads = static_cast<uint64_t>(pool.size());
  const uint64_t part = buffer.size() / n_threads / kStep * kStep;
  const uint64_t chunk = std::min(kChunk, part);
  const uint64_t n_chunks = part / chunk;
  std::vector<uint64_t> next(n_threads * 8);  // a cache line apart
  ReadRoof best{.n_threads = pool.size(), .bytes_s = {}, .prefetch = false};
  for (const bool prefetch : {false, true}) {
    const auto found = windows(pool, seconds / 2, static_cast<double>(chunk), [&](int idx, int64_t n) {
      const auto t = static_cast<uint64_t>(idx);
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t at = next[t * 8]++ % n_chunks;
        read_stream(buffer.data() + t * part + at * chunk, chunk, prefetch);
      }
    });
    const Rate rate = rate_of(found);
    if (rate.best > best.bytes_s.best) best.bytes_s = rate, best.prefetch = prefetch;
  }
  return best;
}

// Half a cache, read again and again by one core: the rest is left to stack, code and neighbours.
std::vector<CacheRoof> measure_caches(ThreadPool& one, const Machine& m, const AlignedBuffer& buffer, double seconds) {
  std::vector<CacheRoof> roofs;
  for (const CacheLevel& c : m.caches) {
    if (c.type == "Instruction" || c.n_bytes < 2 * kStep) continue;
    const uint64_t n = std::min<uint64_t>(c.n_bytes / 2, buffer.size()) / kStep * kStep;
    const auto found = windows(one, seconds, static_cast<double>(n), [&](int, int64_t times) {
      for (int64_t i = 0; i < times; ++i) read_stream(buffer.data(), n, false);
    });
    roofs.push_back({.level = c.level, .n_bytes = c.n_bytes, .buffer_bytes = n, .bytes_s = rate_of(found)});
  }
  return roofs;
}

Rate measure_probe(ThreadPool& pool, const PeakProbe& probe, double seconds) {
  // 256 iterations a unit: the call costs nothing beside them.
  constexpr int64_t kUnit = 256;
  return rate_of(
      windows(pool, seconds, probe.ops_per_iteration * kUnit, [&](int, int64_t n) { probe.run(n * kUnit); }));
}

PeakRoof measure_peak(ThreadPool& one, ThreadPool& all, PeakType type, double seconds) {
  PeakRoof roof{.type = type, .instruction = {}, .core_ops_s = {}, .all_ops_s = {}, .reason = {}};
  const PeakProbe* best = nullptr;
  for (const PeakProbe& p : peak_probes()) {
    if (p.type != type || !p.present()) continue;
    const Rate rate = measure_probe(one, p, seconds);
    if (roof.core_ops_s && roof.core_ops_s->best >= rate.best) continue;
    roof.core_ops_s = rate, best = &p;
  }
  if (best == nullptr) {
    roof.reason = why_absent(type);
    return roof;
  }
  roof.instruction = best->instruction;
  roof.all_ops_s = measure_probe(all, *best, seconds);
  return roof;
}

std::string utc_now() {
  const std::time_t t = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&t, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace

std::string machine_fingerprint(const Machine& m, int n_threads) {
  std::string caches;
  for (const CacheLevel& c : m.caches) caches += fmt::format(" L{}{}={}", c.level, c.type.substr(0, 1), c.n_bytes);
  // Total memory as the kernel counts it changes by a little from boot to boot: whole GiB.
  const uint64_t gib = (m.memory_bytes.value_or(0) + (uint64_t{1} << 29)) >> 30;
  return fmt::format("method {}; {}; {}; {} CPUs; {} threads; {} NUMA;{}; {} GiB; {}", kMethod, m.cpu_model,
                     m.architecture, m.n_cpus_online, n_threads, m.n_numa_nodes, caches, gib,
                     m.hypervisor.empty() ? "bare" : m.hypervisor);
}

Result<Ceilings> measure_ceilings(const CeilingsOptions& options) {
  const int64_t start_ns = now_ns();
  const Machine m = read_machine();
  Ceilings c;
  c.n_threads = choose_threads(options.n_threads).n_threads;
  c.fingerprint = machine_fingerprint(m, c.n_threads);
  c.measured_utc = utc_now();
  c.loads = read_stream_loads();
  c.buffer_bytes = choose_buffer(options, m, c.n_threads);
  RIDGE_TRY(const AlignedBuffer buffer, AlignedBuffer::allocate(c.buffer_bytes));
  // A page of 2 MiB: what is measured is memory, not the walk of page tables. Best effort.
  madvise(buffer.data(), buffer.size(), MADV_HUGEPAGE);
  ThreadPool all(c.n_threads);
  touch(all, buffer);
  {
    ThreadPool one(1);
    c.caches = measure_caches(one, m, buffer, options.seconds_a_probe / 4);
    for (int i = 0; i < kPeakTypeCount; ++i) {
      c.peaks[static_cast<size_t>(i)] = measure_peak(one, all, static_cast<PeakType>(i), options.seconds_a_probe / 2);
    }
  }
  for (int n = 1; n < c.n_threads; n *= 2) {
    ThreadPool some(n);
    c.read.push_back(measure_read(some, buffer, options.seconds_a_probe));
  }
  c.read.push_back(measure_read(all, buffer, 2 * options.seconds_a_probe));
  c.numa_note = m.n_numa_nodes == 1  ? "one node: nothing to tell apart"
                : m.n_numa_nodes > 1 ? "several nodes, measured together: pages lie with the thread that reads them"
                                     : "the system does not say how many nodes there are";
  c.took_s = ms_from_ns(now_ns() - start_ns) * 1e-3;
  return c;
}

std::optional<double> read_roof(const Ceilings& c, int n_threads) {
  std::optional<double> roof;
  for (const ReadRoof& r : c.read) {
    // More threads never read less than fewer could: a lower figure is noise.
    if (r.n_threads <= std::max(1, n_threads)) roof = std::max(roof.value_or(0.0), r.bytes_s.best);
  }
  return roof;
}

std::optional<double> peak_roof(const Ceilings& c, PeakType type, int n_threads) {
  const PeakRoof& p = c.peaks[static_cast<size_t>(type)];
  if (!p.core_ops_s || !p.all_ops_s) return std::nullopt;
  if (n_threads >= c.n_threads) return p.all_ops_s->best;
  return std::min(p.core_ops_s->best * std::max(1, n_threads), std::max(p.all_ops_s->best, p.core_ops_s->best));
}

}  // namespace ridge
