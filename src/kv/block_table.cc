#include "kv/block_table.h"

#include <cassert>

namespace ridge {

BlockTable::BlockTable(BlockPool& pool, int64_t max_positions) : pool_(&pool) {
  blocks_.reserve(static_cast<size_t>(kv_blocks_for(max_positions)));
}

BlockTable& BlockTable::operator=(BlockTable&& o) noexcept {
  std::swap(pool_, o.pool_);
  std::swap(blocks_, o.blocks_);
  return *this;
}

Result<void> BlockTable::grow(int64_t n_positions) {
  assert(pool_ != nullptr && n_positions >= 0);
  const size_t n_old = blocks_.size(), n_new = static_cast<size_t>(kv_blocks_for(n_positions));
  if (n_new <= n_old) return {};
  blocks_.resize(n_new, -1);
  if (auto got = pool_->allocate(std::span(blocks_).subspan(n_old)); !got) {
    blocks_.resize(n_old);
    return got;
  }
  return {};
}

void BlockTable::share(int32_t block) {
  assert(pool_ != nullptr);
  pool_->retain(block);
  blocks_.push_back(block);
}

void BlockTable::truncate(int64_t n_positions) {
  const size_t n_kept = static_cast<size_t>(kv_blocks_for(n_positions));
  while (blocks_.size() > n_kept) {
    pool_->release(blocks_.back());
    blocks_.pop_back();
  }
}

}  // namespace ridge
