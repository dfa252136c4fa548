// Hash tables with open addressing: a vocabulary has up to half a million merges, and loading one should take a tenth
// of a second, not a second.
#include "text/symbols.h"

namespace ridge::text {

size_t SymbolTable::slot_of(std::string_view wanted, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  size_t at = hash & mask;
  while (slots_[at].symbol != kNoSymbol && (slots_[at].tag != tag || text(slots_[at].symbol) != wanted)) {
    at = (at + 1) & mask;
  }
  return at;
}

void SymbolTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 1024 : slots_.size() * 2);
  std::swap(old, slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.symbol == kNoSymbol) continue;
    const std::string_view t = text(slot.symbol);
    size_t at = hash_bytes(t.data(), t.size()) & mask;
    while (slots_[at].symbol != kNoSymbol) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

bool SymbolTable::bind(Symbol s, std::string_view wanted) {
  if ((n_used_ + 1) * 2 > slots_.size()) grow();
  const uint64_t hash = hash_bytes(wanted.data(), wanted.size());
  const size_t at = slot_of(wanted, hash);
  if (slots_[at].symbol != kNoSymbol) return false;
  texts_[s] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(wanted.size())};
  bytes_.append(wanted);
  slots_[at] = {static_cast<uint32_t>(hash >> 32), s};
  ++n_used_;
  return true;
}

Symbol SymbolTable::add(std::string_view wanted) {
  if (const Symbol s = find(wanted); s != kNoSymbol) return s;
  const auto s = static_cast<Symbol>(texts_.size());
  texts_.emplace_back();
  bind(s, wanted);
  return s;
}

Symbol SymbolTable::find(std::string_view wanted) const {
  if (slots_.empty()) return kNoSymbol;
  return slots_[slot_of(wanted, hash_bytes(wanted.data(), wanted.size()))].symbol;
}

size_t SymbolTable::memory_bytes() const {
  return bytes_.capacity() + texts_.capacity() * sizeof(Text) + slots_.capacity() * sizeof(Slot);
}

void PairMap::reserve(size_t n_pairs) {
  size_t n_slots = 16;
  while (n_slots * 5 < n_pairs * 8) n_slots *= 2;
  if (n_slots <= slots_.size()) return;
  std::vector<Slot> old(n_slots);
  std::swap(old, slots_);
  mask_ = n_slots - 1;
  const size_t n_bits = n_slots * 4;
  filter_.assign(n_bits / 64, 0);
  filter_mask_ = n_bits - 1;
  for (const Slot& slot : old) {
    if (slot.key == kEmpty) continue;
    const uint64_t hash = mix(slot.key);
    size_t at = hash & mask_;
    while (slots_[at].key != kEmpty) at = (at + 1) & mask_;
    slots_[at] = slot;
    note(hash);
  }
}

bool PairMap::insert(Symbol left, Symbol right, Merge merge) {
  if ((n_used_ + 1) * 8 > slots_.size() * 5) reserve(slots_.size() + 8);
  const uint64_t key = static_cast<uint64_t>(left) << 32 | right;
  const uint64_t hash = mix(key);
  size_t at = hash & mask_;
  while (slots_[at].key != kEmpty) {
    if (slots_[at].key == key) return false;
    at = (at + 1) & mask_;
  }
  slots_[at] = {key, merge};
  note(hash);
  ++n_used_;
  return true;
}

void CharMap::set(uint32_t code, Symbol s) {
  uint16_t& page = index_[code >> 8];
  if (page == 0) {
    page = static_cast<uint16_t>(pages_.size() / 256);
    pages_.resize(pages_.size() + 256, kNoSymbol);
  }
  pages_[static_cast<size_t>(page) * 256 + (code & 255)] = s;
}

void Trie::insert(std::string_view text, int32_t value) {
  uint32_t node = kRoot;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    uint32_t next = child(node, byte);
    if (next == kNone) {
      next = static_cast<uint32_t>(values_.size());
      values_.push_back(-1);
      edges_.insert(node, byte, {0, next});
    }
    node = next;
  }
  if (values_[node] < 0) values_[node] = value;
}

int32_t Trie::find(std::string_view text) const {
  uint32_t node = kRoot;
  for (const char c : text) {
    node = child(node, static_cast<uint8_t>(c));
    if (node == kNone) return -1;
  }
  return values_[node];
}

}  // namespace ridge::text
