// Turns stretches of ordinary text (no special tokens in them) into ids. Internal to text/. Holds scratch memory and a
// cache of words, so one belongs to one call at a time; a Tokenizer keeps a few.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "text/merger.h"
#include "text/tokenizer_tables.h"

namespace ridge::text {

// Words seen lately and their ids: language repeats itself, and merging is the dear part. Direct-mapped, one cache line
// a word.
class WordCache {
 public:
  static constexpr size_t kMaxWordBytes = 29, kMaxIds = 8;
  // Where a file says ignore-merges, a word by itself may be another token than the same bytes inside a longer word.
  enum class Place : uint8_t { whole_word, part_of_word };
  struct Entry {
    uint8_t n_bytes = 0, n_ids = 0;  // n_bytes 0: free
    Place where = Place::whole_word;
    char word[kMaxWordBytes] = {};
    int32_t ids[kMaxIds] = {};
  };
  static_assert(sizeof(Entry) == 64);

  // The place for a word (at most kMaxWordBytes long): its entry if `holds`, else the one to overwrite.
  Entry& place(std::string_view word) {
    if (entries_.empty()) entries_.resize(kEntries);
    return entries_[hash_bytes(word.data(), word.size()) & (kEntries - 1)];
  }
  static bool holds(const Entry& e, std::string_view word, Place where) {
    return e.n_bytes == word.size() && e.where == where && std::memcmp(e.word, word.data(), word.size()) == 0;
  }
  size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr size_t kEntries = 32768;  // 2 MiB: half as many cost 5 to 20 % on English, twice as many gain 5 %
  std::vector<Entry> entries_;
};

class Encoder {
 public:
  explicit Encoder(const Tables& tables) : t_(tables) {}

  // One stretch. `first` is true at the start of the text and behind a special token: SentencePiece puts a space there.
  void append(std::string_view text, bool first, std::vector<int32_t>& ids);
  size_t memory_bytes() const;
  void trim();

 private:
  void append_byte_bpe(std::string_view text, std::vector<int32_t>& ids);
  void append_raw_bpe(std::string_view text, std::vector<int32_t>& ids);
  void append_joined(std::string_view text, std::vector<int32_t>& ids);
  void append_wordpiece(std::string_view text, std::vector<int32_t>& ids);
  void append_wordpiece_word(std::string_view word, std::vector<int32_t>& ids);
  void append_mixed_word(std::string_view word, std::vector<int32_t>& ids);
  bool append_whole(std::string_view word, std::vector<int32_t>& ids) const;
  void byte_word(std::string_view word, std::vector<int32_t>& ids);
  // Whether some merge joins parts of characters over the border before p, which has a character on either side.
  bool is_risky(const char* p) const {
    return t_.risky[static_cast<uint8_t>(p[-1]) * size_t{256} + static_cast<uint8_t>(p[0])];
  }
  void begin_with_characters(std::string_view word);
  void emit(const std::vector<Symbol>& symbols, std::vector<int32_t>& ids) const;
  void emit_bytes(std::string_view bytes, std::vector<int32_t>& ids) const;
  // Appends the ids of a word: from the cache, or from encode(), which appends them itself.
  template <class Encode>
  void cached(std::string_view word, WordCache::Place where, std::vector<int32_t>& ids, Encode encode);

  const Tables& t_;
  WordCache cache_;
  Merger merger_;
  std::vector<Symbol> symbols_;
  std::vector<uint32_t> ends_, spare_;
  std::string text_;
};

template <class Encode>
void Encoder::cached(std::string_view word, WordCache::Place where, std::vector<int32_t>& ids, Encode encode) {
  if (word.size() > WordCache::kMaxWordBytes) {
    encode();
    return;
  }
  WordCache::Entry& e = cache_.place(word);
  if (WordCache::holds(e, word, where)) {
    for (size_t i = 0; i < e.n_ids; ++i) ids.push_back(e.ids[i]);
    return;
  }
  const size_t from = ids.size();
  encode();
  const size_t n = ids.size() - from;
  if (n > WordCache::kMaxIds) return;
  e.n_bytes = static_cast<uint8_t>(word.size());
  e.n_ids = static_cast<uint8_t>(n);
  e.where = where;
  std::memcpy(e.word, word.data(), word.size());
  std::memcpy(e.ids, ids.data() + from, n * sizeof(int32_t));
}

}  // namespace ridge::text
