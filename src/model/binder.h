// From tensor names and expected shapes to Weight fields. An architecture lists what it needs; the binder looks each
// tensor up, compares shapes, and then lets the device prepare them all. Refuses, naming the tensor, what was found and
// what was expected: a missing tensor, another shape, a type that is not numbers, a format that the device cannot read.
// Tensors that nobody asked for are no error: unused() lists them.
//
// The first error sticks and later calls do nothing, so that an architecture reads as a list of tensors and checks
// once, in finish().
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "account/memory.h"
#include "backend/device.h"
#include "file/gguf.h"

namespace ridge {

// One expected dimension, and what it is in the architecture's terms: {4096, "n_head*head_dim"}.
struct Dim {
  int64_t n = 0;
  std::string_view what;
};
using Shape = std::initializer_list<Dim>;  // in GGUF's order: the input side first

// A weight of a bound model, for censuses.
struct BoundWeight {
  const Weight* weight = nullptr;
  std::string_view name;         // the tensor's; lives in the file's mapping
  const Weight* tied = nullptr;  // the second field with the same bytes: the head of an embedding table
};

// The bytes of bound tensors in the ledger, by format, as MemoryOwner::weights_mapped; taken out again when it dies.
class MappedCensus {
 public:
  MappedCensus() = default;
  MappedCensus(MappedCensus&& o) noexcept;
  MappedCensus& operator=(MappedCensus&& o) noexcept;
  ~MappedCensus();
  void add(MemoryLedger& ledger, DType format, uint64_t n_bytes);

 private:
  MemoryLedger* ledger_ = nullptr;
  std::vector<std::pair<DType, uint64_t>> bytes_;
};

// Lives only while a model loads. The fields given to it stay where they are. The file outlives the weights.
class Binder {
 public:
  explicit Binder(const GgufFile& file) : file_(file) {}

  // The tensor must be there.
  void need(Weight& field, std::string_view name, Shape shape);
  // False, and the field stays empty, where the file has no such tensor; a tensor of another shape is an error.
  bool maybe(Weight& field, std::string_view name, Shape shape);
  // As need, for a table of which rows are looked up and nothing else.
  void need_table(Weight& field, std::string_view name, Shape shape);
  // The values of a small tensor of f32 that the model wants as numbers (frequency factors); each must be finite and
  // above 0. Empty where there is no such tensor.
  std::vector<float> maybe_factors(std::string_view name, Dim n);

  bool has(std::string_view name) const { return file_.find_tensor(name) != nullptr; }
  bool ok() const { return !error_; }
  void refuse(Error error) {
    if (!error_) error_ = std::move(error);
  }

  // Prepares every weight on the device (nullptr: none, for a look at a file) and enters them in the ledger (nullptr:
  // none). Errors: the first one of all calls before; else the device's.
  Result<void> finish(Device* device, MemoryLedger* ledger);

  // After finish(): what was bound, each tensor once; and the names that nobody asked for, in file order.
  std::vector<BoundWeight> take_weights() { return std::move(weights_); }
  MappedCensus take_census() { return std::move(census_); }
  std::vector<std::string> unused() const;

 private:
  void bind(Weight& field, const TensorView& tensor, Shape shape);

  const GgufFile& file_;
  std::optional<Error> error_;
  std::vector<std::pair<Weight*, std::string_view>> fields_;
  std::unordered_set<std::string_view> used_;  // views into the file
  std::vector<BoundWeight> weights_;
  MappedCensus census_;
};

// "[4096,4096] (n_embd x n_head*head_dim)"
std::string describe_shape(Shape shape);

}  // namespace ridge
