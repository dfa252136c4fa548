// Who holds which KV block: a pool of blocks of kKvBlockPositions positions, counted references, a free list.
// A block is one slot in every layer at once (kv_storage.h), so a sequence has one list of blocks, not one a layer.
// Owns numbers only, no memory. Refuses to hand out more than it has; it never evicts: whose blocks to take is the
// scheduler's decision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/program.h"
#include "base/result.h"

namespace ridge {

// Blocks needed for so many positions.
inline constexpr int32_t kv_blocks_for(int64_t n_positions) {
  return static_cast<int32_t>((n_positions + kKvBlockPositions - 1) / kKvBlockPositions);
}

// Engine thread only. Every block is either free (count 0) or held (count > 0): n_free() + n_held() == n_blocks()
// always.
class BlockPool {
 public:
  explicit BlockPool(int32_t n_blocks);

  int32_t n_blocks() const { return static_cast<int32_t>(references_.size()); }
  int32_t n_free() const { return static_cast<int32_t>(free_.size()); }
  int32_t n_held() const { return n_blocks() - n_free(); }

  // Fills `out` with blocks of one reference each: all of them or, with an error (limit), none. Allocates no memory.
  Result<void> allocate(std::span<int32_t> out);
  // One more, one less reference. The block is held.
  void retain(int32_t block);
  void release(int32_t block);
  int32_t references(int32_t block) const;

  // Walks everything: counts, free list, no block twice. For tests and asserts.
  bool consistent() const;

 private:
  std::vector<int32_t> references_;  // by block
  std::vector<int32_t> free_;        // a stack: the block freed last, still warm, is taken first
};

}  // namespace ridge
