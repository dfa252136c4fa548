// The blocks of one sequence, in the order of its positions: position p lies in blocks()[p / kKvBlockPositions].
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kv/block_pool.h"

namespace ridge {

// Move-only owner of its references; gives them back when it dies. The pool outlives it. Engine thread only.
class BlockTable {
 public:
  BlockTable() = default;
  // max_positions: room is made for as many now, so that growing inside a step allocates nothing.
  BlockTable(BlockPool& pool, int64_t max_positions);
  BlockTable(BlockTable&& o) noexcept : pool_(std::exchange(o.pool_, nullptr)), blocks_(std::move(o.blocks_)) {
    o.blocks_.clear();
  }
  BlockTable& operator=(BlockTable&& o) noexcept;
  BlockTable(const BlockTable&) = delete;
  BlockTable& operator=(const BlockTable&) = delete;
  ~BlockTable() { release(); }

  std::span<const int32_t> blocks() const { return blocks_; }
  int64_t n_positions() const { return static_cast<int64_t>(blocks_.size()) * kKvBlockPositions; }  // that have room

  // Room for n_positions; nothing changes when there is enough. Error: limit, with the table as it was.
  Result<void> grow(int64_t n_positions);
  // Puts a block that somebody else holds too (a shared prefix) behind the last one, and takes a reference of its own.
  void share(int32_t block);
  // Gives back every block that no position below n_positions needs.
  void truncate(int64_t n_positions);
  void release() { truncate(0); }

 private:
  BlockPool* pool_ = nullptr;
  std::vector<int32_t> blocks_;
};

}  // namespace ridge
