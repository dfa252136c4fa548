// Quantising a GGUF file: the mix of quant/mix.h, the searches of quant/, streamed. Owns the job from an open file to a
// finished one. Holds a few rows a thread and two pieces of output, whatever the model's size; the output's name keeps
// what it had until all is written. Refuses a file that is quantised already unless told, a weight that is not a
// number, and types that a tensor cannot have.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "file/gguf.h"
#include "quality/imatrix.h"
#include "quant/mix.h"

namespace ridge::quality {

struct QuantiseOptions {
  const quant::Target* target = nullptr;
  quant::MixOptions mix;
  const Imatrix* imatrix = nullptr;
  std::string imatrix_path;
  bool allow_requantize = false;
  bool keep_split = false;  // OUT-00001-of-0000N.gguf beside one another, as the input is split
  int n_threads = 0;        // 0 = choose (base/thread_pool.h)
  // Called between pieces with the share of input bytes done and the tensor at hand; false stops (cancelled).
  std::function<bool(double share, std::string_view tensor)> on_progress;
};

// One tensor, as it was and as it will be.
struct QuantisePlanRow {
  TensorView tensor;
  quant::MixChoice choice;
  uint64_t n_bytes = 0;  // of the output
};

struct QuantisePlan {
  std::vector<QuantisePlanRow> rows;  // in file order
  uint64_t n_bytes_in = 0, n_bytes_out = 0;
  int64_t n_weights = 0;
  double bits_per_weight() const {
    return n_weights > 0 ? 8.0 * static_cast<double>(n_bytes_out) / static_cast<double>(n_weights) : 0;
  }
};
// Errors: invalid_argument, unsupported (quantised already), those of choose_mix.
Result<QuantisePlan> plan_quantise(const GgufFile& file, const QuantiseOptions& options);

// What one type did to its tensors.
struct TypeLoss {
  DType type = DType::f32;
  uint64_t n_tensors = 0, n_bytes = 0;
  int64_t n_weights = 0;
  double square_error = 0, square_sum = 0;  // over all weights: of the differences, of the values
  double rmse() const;
  double relative() const;  // root of the ratio; 0 for tensors of zeros
};

struct QuantiseReport {
  std::vector<TypeLoss> losses;  // by type id
  std::vector<std::string> paths;
  int64_t elapsed_ns = 0;
  uint64_t n_without_importance = 0;  // quantised tensors that the importance matrix does not name
};
// Errors: as plan_quantise; io; bad_file (a weight that is no number); cancelled.
Result<QuantiseReport> quantise_file(const GgufFile& file, const QuantisePlan& plan, const std::string& out_path,
                                     const QuantiseOptions& options);

}  // namespace ridge::quality
