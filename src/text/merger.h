// Byte-pair encoding proper: symbols in, symbols out. At each step the adjacent pair of the smallest rank merges, the
// leftmost first among equals, until no pair is in the table.
#pragma once

#include <cstdint>
#include <vector>

#include "text/symbols.h"

namespace ridge::text {

// Holds scratch memory: one a thread.
class Merger {
 public:
  // Replaces `symbols` by the merged sequence. A few dozen symbols are searched straight; more go through a heap, n log
  // n.
  void merge(const PairMap& pairs, std::vector<Symbol>& symbols);
  size_t memory_bytes() const;
  void trim();  // gives back what one very long word needed

 private:
  void merge_long(const PairMap& pairs, std::vector<Symbol>& symbols);

  std::vector<uint32_t> next_, prev_, rank_;
  std::vector<Symbol> merged_;
  std::vector<uint64_t> heap_;
};

}  // namespace ridge::text
