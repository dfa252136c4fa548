// Which format each tensor of a model gets when the model is quantised to a named type such as Q4_K_M: a mix, for some
// tensors are worth more bits. Truth: the choices of llama-quantize (llama.cpp, src/llama-quant.cpp), so that a file
// made here has the size and the formats that its name promises. Owns the table of names. Refuses a type that a
// tensor's rows cannot hold and that has no substitute. Pure functions, any thread.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "tensor/dtype.h"

namespace ridge::quant {

// One name that a user may ask for.
struct Target {
  std::string_view name;   // as llama-quantize spells it: "Q4_K_M"
  DType base;              // what a tensor gets that nothing else is said of
  uint32_t file_type;      // the number that goes into general.file_type
  std::string_view alias;  // another spelling, or empty: "Q4_K"
};
std::span<const Target> targets();
// By name or alias, letters in either case; nullptr for an unknown one.
const Target* find_target(std::string_view name);

// What is known of the model as a whole.
struct MixModel {
  std::string_view arch;
  int n_layers = 0;
  int n_experts = 0;    // 0: none
  int n_gqa = 1;        // query heads a key head
  bool is_70b = false;  // 80 layers and grouped keys: llama-quantize gives its values more bits
  bool has_imatrix = false;
};

struct MixTensor {
  std::string_view name;
  DType type = DType::f32;  // what it is now
  uint32_t n_dims = 1;
  std::array<int64_t, 4> ne{1, 1, 1, 1};
};

// A pattern (base/pattern.h, searched for within the name; letters count as small) and the type its tensors get.
class TypeRule {
 public:
  // "attn_v=q6_K". Errors: invalid_argument (no '=', a pattern that is none, a type nothing here writes).
  static Result<TypeRule> parse(std::string_view text);
  bool matches(std::string_view name) const { return pattern_.found_in(name); }
  DType type() const { return type_; }

 private:
  TypeRule(Pattern pattern, DType type) : pattern_(std::move(pattern)), type_(type) {}
  Pattern pattern_;
  DType type_;
};

struct MixOptions {
  std::optional<DType> output = {}, token_embedding = {};
  std::vector<TypeRule> rules = {};  // the first that matches wins
  bool pure = false;                 // every tensor the target's base type
  bool leave_output = false;         // output.weight stays as it is
};

struct MixChoice {
  DType type = DType::f32;
  bool is_kept = false;      // not a matrix of weights (a norm, a bias, a gate of experts): stays as it is
  bool is_fallback = false;  // its rows are no whole number of blocks of the type that was chosen
};

// A choice for each tensor. Errors: invalid_argument (a tensor that names no layer of the model, where the mix needs to
// know it).
Result<std::vector<MixChoice>> choose_mix(const Target& target, const MixModel& model,
                                          std::span<const MixTensor> tensors, const MixOptions& options);

// Whether the tensor is one that is quantised at all.
bool is_quantisable(const MixTensor& tensor);
// The layer in "blk.N.", or nullopt.
std::optional<int> layer_of(std::string_view name);

}  // namespace ridge::quant
