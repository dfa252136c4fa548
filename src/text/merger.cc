// Two ways to the same result; merger_test.cc holds them against a naive third.
#include "text/merger.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace ridge::text {
namespace {

// Up to here a scan for the minimum (vectorised, 256 bytes) is cheaper than a heap.
constexpr size_t kShortSymbols = 64;
constexpr uint32_t kNowhere = 0xFFFFFFFF;
constexpr size_t kKeptSymbols = 1 << 16;

size_t index_of_min(const uint32_t* rank, size_t n) {
  uint32_t least = rank[0];
  for (size_t i = 1; i < n; ++i) least = std::min(least, rank[i]);
  if (least == kNoRank) return n;
  size_t i = 0;
  while (rank[i] != least) ++i;
  return i;
}

size_t merge_short(const PairMap& pairs, Symbol* s, size_t n) {
  uint32_t rank[kShortSymbols];
  Symbol merged[kShortSymbols];
  const auto look_up = [&](size_t i) {
    const Merge m = pairs.find(s[i], s[i + 1]);
    rank[i] = m.rank;
    merged[i] = m.merged;
  };
  for (size_t i = 0; i + 1 < n; ++i) look_up(i);
  while (n > 1) {
    const size_t at = index_of_min(rank, n - 1);
    if (at == n - 1) break;
    s[at] = merged[at];
    const size_t n_behind = n - at - 2;
    std::memmove(s + at + 1, s + at + 2, n_behind * sizeof(Symbol));
    if (n_behind > 0) {
      std::memmove(rank + at + 1, rank + at + 2, (n_behind - 1) * sizeof(uint32_t));
      std::memmove(merged + at + 1, merged + at + 2, (n_behind - 1) * sizeof(Symbol));
    }
    --n;
    if (at > 0) look_up(at - 1);
    if (at + 1 < n) look_up(at);
  }
  return n;
}

}  // namespace

void Merger::merge(const PairMap& pairs, std::vector<Symbol>& symbols) {
  if (symbols.size() < 2) return;
  if (symbols.size() <= kShortSymbols) {
    symbols.resize(merge_short(pairs, symbols.data(), symbols.size()));
  } else {
    merge_long(pairs, symbols);
  }
}

void Merger::merge_long(const PairMap& pairs, std::vector<Symbol>& symbols) {
  const auto n = static_cast<uint32_t>(symbols.size());
  next_.resize(n), prev_.resize(n), rank_.resize(n), merged_.resize(n);
  heap_.clear();
  for (uint32_t i = 0; i < n; ++i) {
    prev_[i] = i - 1;  // kNowhere for the first
    next_[i] = i + 1 < n ? i + 1 : kNowhere;
    const Merge m = i + 1 < n ? pairs.find(symbols[i], symbols[i + 1]) : Merge{};
    rank_[i] = m.rank;
    merged_[i] = m.merged;
    if (m.rank != kNoRank) heap_.push_back(static_cast<uint64_t>(m.rank) << 32 | i);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  const auto look_up = [&](uint32_t left) {
    const uint32_t right = next_[left];
    const Merge m = right == kNowhere ? Merge{} : pairs.find(symbols[left], symbols[right]);
    rank_[left] = m.rank;
    merged_[left] = m.merged;
    if (m.rank == kNoRank) return;
    heap_.push_back(static_cast<uint64_t>(m.rank) << 32 | left);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto rank = static_cast<uint32_t>(heap_.back() >> 32);
    const auto at = static_cast<uint32_t>(heap_.back());
    heap_.pop_back();
    if (rank_[at] != rank) continue;  // the pair there has changed since, or is gone
    const uint32_t right = next_[at];
    symbols[at] = merged_[at];
    symbols[right] = kNoSymbol;
    rank_[right] = kNoRank;
    next_[at] = next_[right];
    if (next_[at] != kNowhere) prev_[next_[at]] = at;
    if (prev_[at] != kNowhere) look_up(prev_[at]);
    look_up(at);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i != kNowhere; i = next_[i]) symbols[kept++] = symbols[i];
  symbols.resize(kept);
}

size_t Merger::memory_bytes() const {
  return (next_.capacity() + prev_.capacity() + rank_.capacity() + merged_.capacity()) * 4 + heap_.capacity() * 8;
}

void Merger::trim() {
  if (next_.capacity() <= kKeptSymbols) return;
  next_ = {}, prev_ = {}, rank_ = {}, merged_ = {}, heap_ = {};
}

}  // namespace ridge::text
