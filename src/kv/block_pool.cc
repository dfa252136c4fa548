#include "kv/block_pool.h"

#include <algorithm>
#include <cassert>

namespace ridge {

BlockPool::BlockPool(int32_t n_blocks) : references_(static_cast<size_t>(std::max(n_blocks, 0)), 0) {
  assert(n_blocks >= 0);
  free_.reserve(references_.size());
  for (int32_t block = n_blocks; block-- > 0;) free_.push_back(block);
}

Result<void> BlockPool::allocate(std::span<int32_t> out) {
  if (out.size() > free_.size()) {
    return fail(ErrorCode::limit, "the KV cache has {} of its {} blocks free and {} are needed ({} positions a block)",
                n_free(), n_blocks(), out.size(), kKvBlockPositions);
  }
  for (int32_t& block : out) {
    block = free_.back();
    free_.pop_back();
    assert(references_[static_cast<size_t>(block)] == 0 && "a free block has no references");
    references_[static_cast<size_t>(block)] = 1;
  }
  return {};
}

void BlockPool::retain(int32_t block) {
  assert(references(block) > 0 && "only a held block can be retained");
  ++references_[static_cast<size_t>(block)];
}

void BlockPool::release(int32_t block) {
  assert(references(block) > 0 && "only a held block can be released");
  if (--references_[static_cast<size_t>(block)] == 0) free_.push_back(block);
}

int32_t BlockPool::references(int32_t block) const {
  assert(block >= 0 && block < n_blocks() && "a block of this pool");
  return references_[static_cast<size_t>(block)];
}

bool BlockPool::consistent() const {
  std::vector<bool> is_free(references_.size(), false);
  for (int32_t block : free_) {
    if (block < 0 || block >= n_blocks() || is_free[static_cast<size_t>(block)]) return false;
    is_free[static_cast<size_t>(block)] = true;
  }
  for (size_t i = 0; i < references_.size(); ++i) {
    if (references_[i] < 0 || (references_[i] == 0) != is_free[i]) return false;
  }
  return true;
}

}  // namespace ridge
