// A model on a device for measuring: no engine thread, no sampling, no text; random tokens through the runner, as
// llama-bench does. Sequences lie in the KV cache side by side. One thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/work.h"
#include "engine/loader.h"
#include "engine/runner.h"
#include "kv/block_table.h"

namespace ridge::bench {

struct RigOptions {
  std::string model_path, backend = "cpu", isa;
  int n_threads = 0;
};

struct Layout {
  int n_ctx = 0;  // positions of all sequences together
  int n_batch = 2048, n_ubatch = 512, n_sequences = 1;
  std::string type_k = "f16", type_v = "f16";
};

// Adds up what ran: time inside forward passes alone, and its work.
struct Meter {
  int64_t ns = 0;
  Work work;
  // Filled when asked for: one entry a verb of the steps that ran, by its place in the program.
  std::vector<int64_t>* verb_ns = nullptr;
};

class Rig {
 public:
  // Errors: as load_model_file.
  static Result<std::unique_ptr<Rig>> open(const RigOptions& options);

  // Allocates for this layout; what was there before is given back. Errors: invalid_argument, unsupported,
  // out_of_memory; limit (does not fit, with the context that would).
  Result<void> arrange(const Layout& layout);
  // Forgets all sequences.
  void clear();
  // counts[i] more tokens for sequence i, in steps of at most n_ubatch rows within batches of n_batch; logits for the
  // last row of each sequence that gets any. Errors: limit, device.
  Result<void> feed(std::span<const int> counts, Meter& meter);
  // Sequence `to` begins with the first n positions of `from`, shared, not copied. n is a multiple of 32 and `to`
  // empty.
  void share(int from, int to, int n);

  const LoadedModel& loaded() const { return loaded_; }
  const Program& program() const { return runner_->program(); }
  DeviceInfo device() const { return loaded_.device->info(); }
  std::string describe(const Verb& v) const { return loaded_.device->describe(v); }
  std::vector<std::string> kernels() const { return runner_->describe_step(); }
  bool is_synthetic() const { return loaded_.info.is_synthetic; }

 private:
  struct Row {
    int sequence = 0, n = 0;
  };
  Result<void> step(std::span<const Row> rows, std::span<const int> left, Meter& meter);

  LoadedModel loaded_;
  Layout layout_;
  std::unique_ptr<Runner> runner_;
  std::vector<BlockTable> tables_;
  std::vector<int32_t> lengths_;
  std::vector<int32_t> tokens_, out_rows_;
  std::vector<Slice> slices_;
  uint64_t n_drawn_ = 0;  // tokens so far: the random ones are a function of it
};

}  // namespace ridge::bench
