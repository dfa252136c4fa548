// The roofs of this machine, measured: how fast it reads memory and caches, and how fast it multiplies and adds. Every
// share that Ridge prints is a share of one of these. Measured once a machine, kept in the user's cache folder under
// the machine's fingerprint, reused until that changes.
// A roof is the best of many short windows, each of 1.5 ms: what the machine can do, not what it did while
// others used it. The median beside it tells how steady it was. Seconds are base-10: 1 GB/s = 1e9 bytes a second.
// Not thread-safe: measuring uses every CPU it may.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/machine.h"
#include "device/probes.h"

namespace ridge {

struct Rate {
  double best = 0, median = 0;  // bytes/s or operations/s
  int n_windows = 0;
};

struct ReadRoof {
  int n_threads = 1;
  Rate bytes_s;
  bool prefetch = false;  // whether the best windows asked for lines ahead
};

struct CacheRoof {
  int level = 0;
  uint64_t n_bytes = 0;       // size of the cache
  uint64_t buffer_bytes = 0;  // what was read again and again, by one core
  Rate bytes_s;
};

// Null rates have a reason, as everything unknown.
struct PeakRoof {
  PeakType type = PeakType::f32;
  std::string instruction;
  std::optional<Rate> core_ops_s, all_ops_s;
  std::string reason;  // why null
};

struct Ceilings {
  std::string fingerprint;   // of the machine and of how it was measured
  std::string measured_utc;  // "2026-01-31T12:00:00Z"
  int n_threads = 1;
  std::string loads;          // how wide
  uint64_t buffer_bytes = 0;  // of the streams that read memory
  double took_s = 0;
  std::vector<ReadRoof> read;     // by number of threads, ascending; the last has n_threads
  std::vector<CacheRoof> caches;  // data caches, L1 first
  std::array<PeakRoof, kPeakTypeCount> peaks;
  std::string numa_note;  // why there are no figures by NUMA node
};

struct CeilingsOptions {
  int n_threads = 0;          // 0 = choose, as the engine does
  uint64_t buffer_bytes = 0;  // 0 = eight times the largest cache, 256 MiB to 2 GiB, at most a quarter of free memory
  double seconds_a_probe = 0.3;
};

// One line of what decides the roofs: processor, caches, memory, CPUs, threads, this file's method.
std::string machine_fingerprint(const Machine& machine, int n_threads);

// Takes 3 to 6 seconds with the default options. Errors: out_of_memory.
Result<Ceilings> measure_ceilings(const CeilingsOptions& options);

// The best rate at which n_threads read memory: measured, or the nearest measured number of threads below (which can
// only be too low). nullopt when nothing was measured.
std::optional<double> read_roof(const Ceilings& c, int n_threads);
// n_threads times a core's peak, at most what all together reached.
std::optional<double> peak_roof(const Ceilings& c, PeakType type, int n_threads);

// ---- kept between runs (ceilings_store.cc) ----
// JSON with every field of Ceilings; rates in bytes/s and operations/s.
std::string ceilings_json(const Ceilings& c);
// Errors: bad_file, naming the field.
Result<Ceilings> parse_ceilings(std::string_view json);

struct StoredCeilings {
  Ceilings ceilings;
  std::string path;  // "" when they could not be kept
  bool reused = false;
  std::string note;  // why they were measured again, or could not be kept; "" when there is nothing to say
};
// Those kept for this machine; measured and kept (atomically) when there are none, they are damaged, or `refresh`. A
// cache folder that cannot be written is a note, no error.
Result<StoredCeilings> obtain_ceilings(const CeilingsOptions& options, bool refresh);
// Those kept for this machine, never measuring. nullopt: none.
std::optional<StoredCeilings> kept_ceilings(int n_threads);

}  // namespace ridge
