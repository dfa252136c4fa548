// The tables a tokeniser is made of: strings <-> symbols, pairs of symbols -> what they merge into, characters ->
// symbols, and a trie over bytes. Written once when a vocabulary is read, then only read: any number of threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text {

// A string that merging may begin with, pass through or end at. Symbols below the vocabulary's size are token ids.
using Symbol = uint32_t;
inline constexpr Symbol kNoSymbol = 0xFFFFFFFF;
inline constexpr uint32_t kNoRank = 0xFFFFFFFF;

inline uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  return x ^ (x >> 32);
}

inline uint64_t hash_bytes(const char* p, size_t n) {
  uint64_t h = 0xA0761D6478BD642Fu ^ (n * 0xE7037ED1A0B428DBu);
  while (n >= 8) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    h = mix(h ^ v) * 0x8EBC6AF09C88C6E3u;
    p += 8, n -= 8;
  }
  if (n > 0) {
    uint64_t v = 0;
    std::memcpy(&v, p, n);
    h = mix(h ^ v) * 0x8EBC6AF09C88C6E3u;
  }
  return mix(h);
}

class SymbolTable {
 public:
  // Room for the ids of a vocabulary; none has a string yet.
  explicit SymbolTable(size_t n_tokens = 0) : texts_(n_tokens) {}

  // Gives symbol `s` its string. False, and nothing changes, where another symbol has that string already.
  bool bind(Symbol s, std::string_view text);
  // The symbol with that string, made if need be.
  Symbol add(std::string_view text);
  Symbol find(std::string_view text) const;
  std::string_view text(Symbol s) const { return {bytes_.data() + texts_[s].at, texts_[s].n_bytes}; }
  size_t size() const { return texts_.size(); }
  size_t memory_bytes() const;

 private:
  struct Text {
    uint32_t at = 0, n_bytes = 0;
  };
  struct Slot {
    uint32_t tag = 0;
    Symbol symbol = kNoSymbol;
  };
  size_t slot_of(std::string_view text, uint64_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<Text> texts_;
  std::vector<Slot> slots_;  // open addressing, at most half full
  size_t n_used_ = 0;
};

struct Merge {
  uint32_t rank = kNoRank;  // the smaller the earlier
  Symbol merged = kNoSymbol;
};

// Most pairs that merging asks for are in no table, so a filter of a few bits a pair, which stays in L2, answers first;
// the table itself (4 to 16 MB) is read mostly for pairs that are there.
class PairMap {
 public:
  void reserve(size_t n_pairs);
  // Keeps what is there: the first merge of a pair is the one that counts. False where the pair was known.
  bool insert(Symbol left, Symbol right, Merge merge);

  Merge find(Symbol left, Symbol right) const {
    const uint64_t key = static_cast<uint64_t>(left) << 32 | right;
    const uint64_t hash = mix(key);
    const uint64_t bit = hash >> 32 & filter_mask_;
    if (!(filter_[bit >> 6] >> (bit & 63) & 1)) return {};
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.key == key) return slot.merge;
      if (slot.key == kEmpty) return {};
    }
  }
  size_t size() const { return n_used_; }
  size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot) + filter_.capacity() * 8; }

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  struct Slot {
    uint64_t key = kEmpty;
    Merge merge;
  };
  void note(uint64_t hash) {
    const uint64_t bit = hash >> 32 & filter_mask_;
    filter_[bit >> 6] |= uint64_t{1} << (bit & 63);
  }
  std::vector<Slot> slots_;  // open addressing, at most 5/8 full
  std::vector<uint64_t> filter_ = std::vector<uint64_t>(1, 0);
  uint64_t filter_mask_ = 63;
  size_t mask_ = 0, n_used_ = 0;
};

// Code point -> symbol, in pages of 256.
class CharMap {
 public:
  CharMap() : index_(0x1100, 0), pages_(256, kNoSymbol) {}
  void set(uint32_t code, Symbol s);
  Symbol of(uint32_t code) const { return pages_[static_cast<size_t>(index_[code >> 8]) * 256 + (code & 255)]; }
  size_t memory_bytes() const { return index_.size() * 2 + pages_.capacity() * 4; }

 private:
  std::vector<uint16_t> index_;
  std::vector<Symbol> pages_;  // page 0 is empty
};

class Trie {
 public:
  Trie() : values_(1, -1) {}
  static constexpr uint32_t kRoot = 0, kNone = 0xFFFFFFFF;
  // The first value of a text stays.
  void insert(std::string_view text, int32_t value);
  uint32_t child(uint32_t node, uint8_t byte) const { return edges_.find(node, byte).merged; }
  int32_t value(uint32_t node) const { return values_[node]; }  // -1: no text ends here
  int32_t find(std::string_view text) const;
  size_t memory_bytes() const { return edges_.memory_bytes() + values_.capacity() * 4; }

 private:
  PairMap edges_;
  std::vector<int32_t> values_;
};

}  // namespace ridge::text
