// What a Tokenizer knows, as built from a vocabulary: internal to text/. Immutable once built.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pretokenizer.h"
#include "text/symbols.h"
#include "text/tokenizer.h"
#include "text/vocab.h"

namespace ridge::text {

enum class Kind : uint8_t { byte_bpe, spm, raw_bpe, wordpiece };

enum TokenFlag : uint16_t {
  kControlToken = 1 << 0,
  kUnknownToken = 1 << 1,
  kUserDefined = 1 << 2,
  kByteToken = 1 << 3,
  kUnused = 1 << 4,
  kMarker = 1 << 5,  // user-defined and looks like markup for the model
  kEndsGeneration = 1 << 6,
  kStripRight = 1 << 7,  // swallows white space behind it
  kStripLeft = 1 << 8,
};

// When a special token may be recognised.
enum class Recognise : uint8_t {
  plain = 0,      // user-defined only
  all = 1,        // parse_special, and trusted segments
  untrusted = 2,  // user-defined that are no markers
};

struct SpecialMatcher {
  Trie trie;
  std::array<std::array<bool, 256>, 3> first_byte{};  // by Recognise
  std::array<bool, 3> any{};
};

struct Tables {
  Kind kind = Kind::byte_bpe;
  std::string model;
  PreTokenizer pre;
  uint32_t n_vocab = 0;

  std::string piece_bytes;            // rendered texts, one after the other
  std::vector<uint32_t> piece_begin;  // n_vocab + 1
  std::vector<uint16_t> flags;        // TokenFlag, by id
  SpecialIds special;
  std::vector<int32_t> eog;
  bool add_bos = false, add_eos = false, add_sep = false, add_space_prefix = false;
  bool lowercase = true, strip_accents = true;  // WordPiece

  SymbolTable symbols;
  PairMap pairs;
  CharMap chars;                          // a character -> the symbol to begin with
  std::array<Symbol, 256> byte_symbol{};  // byte-level: the symbol of a byte
  std::array<int32_t, 256> byte_token{};  // the token of a byte, -1 where there is none
  std::vector<bool> risky;                // byte-level: [last byte * 256 + first byte], see find_whole_characters
  std::vector<uint64_t> joins;            // which neighbouring characters some merge may join, one bit a hash

  SpecialMatcher specials;
  Trie words;                   // WordPiece
  uint32_t max_word_bytes = 0;  // the longest text in `words`
  std::vector<std::string> warnings;

  std::string_view piece(uint32_t id) const {
    return std::string_view(piece_bytes).substr(piece_begin[id], piece_begin[id + 1] - piece_begin[id]);
  }
  bool may_recognise(int32_t id, Recognise how) const;
  size_t memory_bytes() const;
};

// Tokens longer than this are never produced by merging, and special tokens longer than this never recognised: the work
// on a byte of text stays bounded whatever the file holds. Real vocabularies stay under 130.
inline constexpr size_t kMaxTokenBytes = 256;
inline constexpr size_t kMaxVocabTokens = size_t{1} << 22;
inline constexpr size_t kMaxVocabBytes = size_t{1} << 30;

Result<std::unique_ptr<Tables>> build_tables(VocabData vocab);

// Parts of build_tables.
void classify_tokens(const VocabData& vocab, Tables& t);  // special_tokens.cc: flags, ids, end markers
void build_special_matcher(const VocabData& vocab, Tables& t);
Result<void> build_byte_bpe(const VocabData& vocab, Tables& t);  // merge_tables.cc
Result<void> build_raw_bpe(const VocabData& vocab, Tables& t);
void build_spm(const VocabData& vocab, Tables& t);
bool is_ordinary(const Tables& t, uint32_t id);  // may come out of merging

// GPT-2's alphabet: 256 printable characters that stand for the bytes. False where the text holds another character.
bool bytes_of_alphabet(std::string_view text, std::string& bytes);

// "<0x0A>" -> 10, or -1
int byte_of_token_text(std::string_view text);

// By code points. False is certain; true may be a collision.
inline uint64_t join_bit(const Tables& t, uint32_t a, uint32_t b) {
  return mix(static_cast<uint64_t>(a) << 32 | b) & (t.joins.size() * 64 - 1);
}
inline bool may_join(const Tables& t, uint32_t a, uint32_t b) {
  const uint64_t bit = join_bit(t, a, b);
  return t.joins[bit >> 6] >> (bit & 63) & 1;
}

}  // namespace ridge::text
