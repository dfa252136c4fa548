// A device runs Programs. One per engine; all calls from the engine thread unless a method says otherwise.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "account/memory.h"
#include "backend/program.h"

namespace ridge {

struct DeviceOptions {
  int n_threads = 0;  // 0 = choose (base/thread_pool.h)
  std::string isa;    // "" = the best that this machine has; a name that it has not is an error that lists those it has
  MemoryLedger* ledger = nullptr;
};

// What runs, and why: shown by `ridge device` and kept in every record.
struct DeviceInfo {
  std::string name;        // "cpu", "reference"
  std::string isa;         // "avx512_vnni", "avx512", "avx2", "neon", "scalar"; "" where it has no meaning
  std::string isa_reason;  // one sentence
  int n_threads = 1;
  std::string threads_reason;
};

// What a device calls its arena in the ledger (owner: activations).
inline constexpr std::string_view kArenaDetail = "arena f32";

// Filled by run() when asked: wall time of each verb, in the order of Program::verbs.
struct StepTrace {
  std::vector<int64_t> verb_ns;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;

  // Called once a weight, at load: refuses a format that the device cannot read (naming tensor and format), and may
  // make a copy in its own layout under the ledger's weights_prepared.
  virtual Result<void> prepare(Weight& weight) = 0;

  // The bytes of the copy that prepare() makes of a matrix, under the format's name in the ledger; 0: none.
  virtual size_t prepared_bytes(const Weight& weight) const = 0;

  // Makes room for steps of up to this many arena floats; called at load, so that a step allocates nothing.
  virtual Result<void> reserve(int64_t arena_floats) = 0;

  // What reserve(arena_floats) takes beside the arena itself: parts as they stand in the ledger (owner: activations).
  struct Scratch {
    std::string_view detail;
    size_t n_bytes = 0;
  };
  virtual std::vector<Scratch> scratch(int64_t arena_floats) const = 0;

  // Runs all verbs in order. Errors: device. Returns when the results can be read.
  virtual Result<void> run(const Program& program, StepTrace* trace = nullptr) = 0;

  // The values of a matrix after run(), until the next run(): row-major with stride.
  virtual MatrixView<const float> read(const Act& act) const = 0;

  // The kernel that runs this verb: "q4_K x f32, unpack + fma, avx512". For the executed path in records.
  virtual std::string describe(const Verb& verb) const = 0;
};

// backend/registry.cc: one row a backend.
std::vector<std::string_view> device_names();
// Errors: not_found with the list of names; unsupported for an ISA this machine lacks, with those it has.
Result<std::unique_ptr<Device>> make_device(std::string_view name, const DeviceOptions& options);
// The instruction sets that make_device("cpu") can be asked for on this machine, best first.
std::vector<std::string_view> cpu_isas();

}  // namespace ridge
