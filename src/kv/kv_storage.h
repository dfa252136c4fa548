// The memory of keys and values: for each layer one buffer of keys and one of values, n_blocks blocks of
// kKvBlockPositions positions. Every byte stands in the ledger under MemoryOwner::kv as "K <type>" or "V <type>".
// Refuses types that attention cannot read, and block-quantised ones for a head_dim that is not whole blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "account/memory.h"
#include "backend/program.h"
#include "kv/layer_state.h"

namespace ridge {

struct KvTypes {
  DType k = DType::f16, v = DType::f16;
};

// Types that keys and values may have: f32, f16, bf16, q8_0, q4_0.
std::span<const DType> kv_types();
// From the text of a flag ("q8_0", letters in either case). Error: invalid_argument, with the list.
Result<DType> parse_kv_type(std::string_view text);
// Errors: unsupported, naming the type with the list of the allowed ones, or the head_dim that is no multiple of its
// block.
Result<void> check_kv_types(std::span<const LayerState> layers, KvTypes types);

struct KvBytes {
  uint64_t k = 0, v = 0;
  uint64_t total() const { return k + v; }
};
// What n_blocks blocks take; KvStorage allocates exactly this. The types have been checked. Error: limit, where it
// passes 2^63.
Result<KvBytes> predict_kv_bytes(std::span<const LayerState> layers, KvTypes types, int64_t n_blocks);

// Allocated once, at load. Engine thread only; the ledger outlives it.
class KvStorage {
 public:
  KvStorage() = default;
  // Errors: as check_kv_types; limit; out_of_memory with the predicted bytes.
  static Result<KvStorage> allocate(MemoryLedger& ledger, std::span<const LayerState> layers, KvTypes types,
                                    int32_t n_blocks);

  std::span<const KvLayer> layers() const { return layers_; }  // for StepInput::kv
  int32_t n_blocks() const { return n_blocks_; }
  KvTypes types() const { return types_; }

 private:
  std::vector<TaggedBuffer> buffers_;  // k and v of layer 0, of layer 1, ...
  std::vector<KvLayer> layers_;
  int32_t n_blocks_ = 0;
  KvTypes types_;
};

}  // namespace ridge
