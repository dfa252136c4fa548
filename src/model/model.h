// A model: weights of one file, bound and prepared, and its forward pass as verbs. One final class an architecture
// (model/arch/). Knows no device beyond the interface and no scheduler: what a step works on comes in the encoder's
// StepInput.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/encoder.h"
#include "kv/layer_state.h"
#include "model/binder.h"
#include "model/hparams.h"

namespace ridge {

struct ModelOptions {
  int32_t n_ctx =
      0;  // context that will be served: LongRoPE chooses its factors by it; 0 = what the model was trained for
  Device* device = nullptr;        // prepares the weights; nullptr = bind only, to look at a file
  MemoryLedger* ledger = nullptr;  // nullptr = no accounts

  int32_t n_ctx_or(int32_t n_ctx_train) const { return n_ctx > 0 ? n_ctx : n_ctx_train; }
};

// Immutable once loaded, so any thread may read it; forward() writes only into the encoder. File, device and ledger
// outlive it.
class Model {
 public:
  explicit Model(Hparams config) : config_(std::move(config)) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Hparams& config() const { return config_; }
  std::string_view arch() const { return config_.arch; }
  std::string_view name() const { return config_.name; }

  // One for each KV layer, in the order of StepInput::kv.
  std::span<const LayerState> kv_layers() const { return kv_layers_; }
  // Writes the step's verbs and its logits, one row for each of StepInput::out_rows (none: no head is computed).
  virtual void forward(Encoder& e) const = 0;

  // Each tensor once: a tied head does not count twice.
  std::span<const BoundWeight> weights() const { return weights_; }
  int64_t n_params() const;
  // Tensors of the file that this architecture does not use, in file order.
  std::span<const std::string> unused_tensors() const { return unused_; }

  // Arena of a step of so many rows, logits included: exactly what forward() will ask for.
  int64_t arena_floats(int32_t n_rows, int32_t n_out_rows) const;

 protected:
  // Ends the loading: the binder's verdict, then what it holds.
  Result<void> finish(Binder& binder, const ModelOptions& options);
  void add_kv_layer(LayerState state) { kv_layers_.push_back(state); }

 private:
  Hparams config_;
  std::vector<LayerState> kv_layers_;
  std::vector<BoundWeight> weights_;
  std::vector<std::string> unused_;
  MappedCensus census_;
};

}  // namespace ridge
