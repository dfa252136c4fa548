// One model on one device with its KV memory: turns rows of tokens into logits. No sequences, no sampling, no thread of
// its own. Engine thread only (or the one thread of a tool such as `ridge logits`). Allocates at creation, never in
// forward().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "account/stages.h"
#include "backend/device.h"
#include "kv/block_pool.h"
#include "kv/kv_storage.h"
#include "model/model.h"

namespace ridge {

struct RunnerOptions {
  int32_t n_ctx = 0;         // positions that the KV memory holds, rounded up to whole blocks
  int32_t n_ubatch = 512;    // most rows of a step
  int32_t max_out_rows = 1;  // most rows of a step whose logits are wanted
  int32_t max_slices = 1;    // most sequences of a step
  KvTypes kv;
};

// Consecutive positions of one sequence.
struct Slice {
  std::span<const int32_t> tokens;
  int32_t pos0 = 0;
  std::span<const int32_t> blocks;  // cover pos0 + tokens.size() positions
};

class Runner {
 public:
  // Model, device and ledger outlive it. Errors: unsupported (KV types), out_of_memory.
  static Result<std::unique_ptr<Runner>> create(const Model& model, Device& device, MemoryLedger& ledger,
                                                const RunnerOptions& options, TimeBook& book);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Runs the slices' rows, in order, as one step; out_rows are row numbers, ascending. The logits, one row for each of
  // out_rows, are valid until the next call. Errors: device; internal (a logit that is not a number: which row).
  Result<MatrixView<const float>> forward(std::span<const Slice> slices, std::span<const int32_t> out_rows,
                                          StepTrace* trace = nullptr);

  // The step that ran last: verbs and their costs.
  const Program& program() const { return program_; }
  // The distinct kernels of a step of one row, from a program that is written and not run.
  std::vector<std::string> describe_step() const;
  BlockPool& pool() { return pool_; }
  const RunnerOptions& options() const { return options_; }
  Device& device() const { return device_; }

 private:
  Runner(const Model& model, Device& device, MemoryLedger& ledger, const RunnerOptions& options);

  const Model& model_;
  Device& device_;
  MemoryLedger& ledger_;
  RunnerOptions options_;
  uint64_t logits_bytes_ = 0;  // the part of the arena that holds logits, entered in the ledger under their own name
  KvStorage kv_;
  BlockPool pool_;
  Program program_;
  std::vector<int32_t> tokens_;
  std::vector<SeqSpan> spans_;
};

}  // namespace ridge
