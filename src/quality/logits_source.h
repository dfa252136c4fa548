// Where the logits of a text come from: a model, or numbers that a test made up. One thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/loader.h"
#include "engine/runner.h"
#include "kv/block_table.h"

namespace ridge::quality {

class LogitsSource {
 public:
  virtual ~LogitsSource() = default;
  virtual int32_t n_vocab() const = 0;
  // Most rows of one advance(), with and without logits.
  virtual int32_t max_rows(bool want_logits) const = 0;
  // A new sequence; the tokens outlive it.
  virtual Result<void> start(std::span<const int32_t> tokens) = 0;
  // The next n_rows tokens; their logits, one row each, until the next call, or no rows where they are not wanted.
  virtual Result<MatrixView<const float>> advance(int32_t n_rows, bool want_logits) = 0;
};

// A model on its device.
class ModelLogits final : public LogitsSource {
 public:
  // device: what runs the steps: the model's own (nullptr), or one that looks on. Errors: as Runner::create.
  static Result<std::unique_ptr<ModelLogits>> create(const LoadedModel& model, const EngineOptions& options,
                                                     int32_t n_ctx, Device* device = nullptr);
  int32_t n_vocab() const override { return n_vocab_; }
  int32_t max_rows(bool want_logits) const override {
    return want_logits ? runner_->options().max_out_rows : runner_->options().n_ubatch;
  }
  Result<void> start(std::span<const int32_t> tokens) override;
  Result<MatrixView<const float>> advance(int32_t n_rows, bool want_logits) override;

 private:
  ModelLogits() = default;
  int32_t n_vocab_ = 0, pos_ = 0;
  std::unique_ptr<Runner> runner_;
  BlockTable table_;
  std::span<const int32_t> tokens_;
  std::vector<int32_t> out_rows_;
};

}  // namespace ridge::quality
