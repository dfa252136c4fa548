// How much work a program is, and how long the machine's roofs say that it must take: bytes at the rate of reading
// memory, operations at the peak of the type that the weights allow. Plain values, any thread.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "backend/program.h"
#include "device/ceilings.h"

namespace ridge::bench {

struct Work {
  Traffic traffic;
  std::array<double, kPeakTypeCount> flops{};  // by PeakType; their sum is traffic.flops
  int n_steps = 0;

  // What has to come from memory: weights and cached keys and values. Activations stay in caches.
  double read_bytes() const { return traffic.weight_bytes + traffic.kv_read_bytes; }
  void add(const Verb& verb);
  void add(const Program& program);  // one step
};

// The peak that bounds a product with such weights: int8 for block formats (activations are quantised to match), bf16
// for bf16, f32 for the rest.
PeakType peak_type_of(DType weights);
PeakType peak_type_of(const Verb& verb);

// The roofs for one number of threads; null where nothing was measured, with the reason.
struct Roofs {
  std::optional<double> read_bytes_s;
  std::array<std::optional<double>, kPeakTypeCount> ops_s;  // a type the machine cannot do has the next wider one's
  uint64_t cache_bytes = 0;                                 // largest data cache
  std::string reason;
};
Roofs roofs_for(const Ceilings& c, int n_threads);

// A share of a roof, or why there is none.
struct Share {
  std::optional<double> value;
  std::string reason;
  // Above 1 by more than noise: the roof is wrong, not the work.
  bool beats_roof() const { return value && *value > 1.03; }
};
// seconds are of all the work; its steps each read read_bytes() / n_steps. Null where that may stay in caches.
Share read_share(const Work& w, double seconds, const Roofs& roofs);
Share arithmetic_share(const Work& w, double seconds, const Roofs& roofs);

}  // namespace ridge::bench
