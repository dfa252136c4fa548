// From a vocabulary to the tables that merging reads. Three kinds come to one form, pairs with ranks:
// byte-level BPE and Gemma 4 list their merges; SentencePiece merges any two neighbours whose concatenation is a token,
// the better score first, so every way to halve a token is a pair and the order of the scores is its rank.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/utf8.h"
#include "text/tokenizer_tables.h"

namespace ridge::text {
namespace {

// Byte -> code point in GPT-2's alphabet, and back (-1 where a code point is none of it). Printable Latin-1 stands for
// itself, the other 68 bytes for U+0100 onwards.
struct Alphabet {
  std::array<int16_t, 324> byte_of;
  Alphabet() {
    byte_of.fill(-1);
    int n_moved = 0;
    for (int b = 0; b < 256; ++b) {
      const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
      byte_of[static_cast<size_t>(itself ? b : 256 + n_moved++)] = static_cast<int16_t>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet table;
  return table;
}

bool is_whole_characters(std::string_view bytes) {
  return utf8_is_valid(bytes);
}

bool is_ascii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

// All bytes belong to one character, whole or in part.
bool is_inside_one_character(std::string_view bytes) {
  for (size_t i = 1; i < bytes.size(); ++i) {
    if ((static_cast<uint8_t>(bytes[i]) & 0xC0) != 0x80) return false;
  }
  const auto lead = static_cast<uint8_t>(bytes[0]);
  const size_t most = lead < 0x80 ? 1 : lead < 0xC0 ? 3 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return bytes.size() <= most;
}

struct MergeText {
  std::string_view left, right;
};

// "left right": the first space behind the first byte divides, so that a piece may begin with a space.
bool split_merge(std::string_view merge, MergeText& out) {
  const size_t at = merge.find(' ', 1);
  if (at == merge.npos || at + 1 >= merge.size()) return false;
  out = {merge.substr(0, at), merge.substr(at + 1)};
  return true;
}

class MergeProblems {
 public:
  void note(size_t index) {
    if (n_++ == 0) first_ = index;
  }
  void warn(Tables& t) const {
    if (n_ == 0) return;
    t.warnings.push_back(
        fmt::format("tokenizer.ggml.merges: {} entries are not two pieces of this vocabulary's alphabet (the first "
                    "is entry {}); they are ignored",
                    n_, first_));
  }

 private:
  size_t n_ = 0, first_ = 0;
};

// One bit for each pair of neighbours; at 8 to 16 bits a pair, one wrong "may join" in ten costs only a longer word.
void size_joins(Tables& t, size_t n_pairs) {
  size_t n_bits = 1024;
  while (n_bits < n_pairs * 8 && n_bits < (size_t{1} << 24)) n_bits *= 2;
  t.joins.assign(n_bits / 64, 0);
}

// The characters that meet where two pieces of valid UTF-8 merge. An escaped space is a space.
void note_join(Tables& t, std::string_view left, std::string_view right) {
  size_t at = left.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(left[at]) & 0xC0) == 0x80) --at;
  const Utf8Char a = utf8_read(left, at), b = utf8_read(right, 0);
  if (!a.valid || !b.valid) return;
  const auto set = [&](uint32_t x, uint32_t y) {
    const uint64_t bit = join_bit(t, x, y);
    t.joins[bit >> 6] |= uint64_t{1} << (bit & 63);
  };
  const auto code = [&](uint32_t c) { return t.pre.escape_spaces && c == 0x2581 ? uint32_t{' '} : c; };
  set(code(a.code), code(b.code));
}

// Where a word that is a token is that token whatever the merges say, no border inside a token may be a place to cut.
void keep_tokens_whole(Tables& t) {
  for (Symbol s = 0; s < t.n_vocab; ++s) {
    const std::string_view text = t.symbols.text(s);
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_read(text, at);
      const size_t next = at + c.n_bytes;
      if (c.valid && next < text.size()) note_join(t, text.substr(at, c.n_bytes), text.substr(next));
      at = next;
    }
  }
}

// Merges the bytes of one character by themselves. The largest rank on the way, or kNoRank where they do not become
// `whole`.
uint32_t rank_of_character(const Tables& t, std::string_view bytes, Symbol whole) {
  std::array<Symbol, 4> s{};
  size_t n = 0;
  for (const char b : bytes) s[n++] = t.byte_symbol[static_cast<uint8_t>(b)];
  uint32_t largest = 0;
  while (n > 1) {
    size_t at = 0;
    Merge best;
    for (size_t i = 0; i + 1 < n; ++i) {
      const Merge m = t.pairs.find(s[i], s[i + 1]);
      if (m.rank < best.rank) best = m, at = i;
    }
    if (best.rank == kNoRank) return kNoRank;
    largest = std::max(largest, best.rank);
    s[at] = best.merged;
    for (size_t i = at + 1; i + 1 < n; ++i) s[i] = s[i + 1];
    --n;
  }
  return s[0] == whole ? largest : kNoRank;
}

// Text may begin as whole characters instead of bytes, with the same result, where (1) at the character's borders no
// merge joins parts of characters (`risky`, noted for pairs of bytes), and (2) every merge of several whole characters
// comes after those that make each of them from bytes. Then, whenever merging bytes would pick such a merge of rank k,
// a character still unfinished has a merge of rank >= k before it and takes part only in later ones: beginning
// finished, it changes no choice. A character for which (2) fails begins as bytes. `several` are the merges of whole
// characters that are not all ASCII.
void find_whole_characters(Tables& t, const std::vector<std::string>& merges, const std::vector<uint32_t>& several) {
  std::vector<uint32_t> rank(t.symbols.size(), kNoRank);  // by symbol of one character
  for (Symbol s = 0; s < t.symbols.size(); ++s) {
    const std::string_view bytes = t.symbols.text(s);
    if (bytes.size() < 2 || bytes.size() > 4) continue;
    const Utf8Char c = utf8_read(bytes, 0);
    if (!c.valid || c.n_bytes != bytes.size()) continue;
    rank[s] = rank_of_character(t, bytes, s);
    if (rank[s] != kNoRank) t.chars.set(c.code, s);
  }
  MergeText m;
  std::string left, right;
  for (const uint32_t i : several) {
    split_merge(merges[i], m);
    bytes_of_alphabet(m.left, left);
    bytes_of_alphabet(m.right, right);
    left += right;
    for (size_t at = 0; at < left.size();) {
      if (static_cast<uint8_t>(left[at]) < 0x80) {
        ++at;
        continue;
      }
      const Utf8Char c = utf8_read(left, at);
      at += c.n_bytes;
      if (!c.valid || c.n_bytes == left.size()) continue;
      const Symbol s = t.chars.of(c.code);
      if (s != kNoSymbol && rank[s] >= i) t.chars.set(c.code, kNoSymbol);
    }
  }
}

// Every character of every symbol gets a symbol to begin with; a space begins as U+2581 where it is escaped.
void add_characters(Tables& t) {
  const size_t n = t.symbols.size();
  for (Symbol s = 0; s < n; ++s) {
    std::string_view text = t.symbols.text(s);
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_read(text, at);
      if (c.valid && t.chars.of(c.code) == kNoSymbol) {
        const std::string one(text.substr(at, c.n_bytes));
        t.chars.set(c.code, t.symbols.add(one));
        text = t.symbols.text(s);  // adding may have moved the bytes
      }
      at += c.n_bytes;
    }
  }
  if (t.pre.escape_spaces) t.chars.set(' ', t.chars.of(0x2581));
}

size_t bind_ordinary_tokens(const VocabData& vocab, Tables& t) {
  size_t n_twice = 0, first = 0;
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    if (!is_ordinary(t, id) || vocab.tokens[id].empty() || vocab.tokens[id].size() > kMaxTokenBytes) continue;
    if (!t.symbols.bind(id, vocab.tokens[id]) && n_twice++ == 0) first = id;
  }
  if (n_twice > 0) {
    t.warnings.push_back(
        fmt::format("tokenizer.ggml.tokens: {} tokens repeat the text of an earlier one (the first is token {}); "
                    "encoding uses the earlier",
                    n_twice, first));
  }
  return n_twice;
}

void find_byte_tokens(const VocabData& vocab, Tables& t) {
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    const int byte = byte_of_token_text(vocab.tokens[id]);
    if (byte < 0) continue;
    int32_t& token = t.byte_token[static_cast<size_t>(byte)];
    if (token < 0 || (t.flags[id] & kByteToken)) token = static_cast<int32_t>(id);
  }
}

}  // namespace

bool bytes_of_alphabet(std::string_view text, std::string& bytes) {
  bytes.clear();
  const Alphabet& a = alphabet();
  for (size_t at = 0; at < text.size();) {
    const Char c = read_char(text.data() + at, text.data() + text.size());
    if (!c.valid || c.code >= a.byte_of.size() || a.byte_of[c.code] < 0) return false;
    bytes.push_back(static_cast<char>(a.byte_of[c.code]));
    at += c.n_bytes;
  }
  return true;
}

int byte_of_token_text(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return -1;
  int value = 0;
  for (const char c : text.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

Result<void> build_byte_bpe(const VocabData& vocab, Tables& t) {
  t.symbols = SymbolTable(t.n_vocab);
  std::string bytes, left, right;
  size_t n_twice = 0, first_twice = 0;
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    const std::string& text = vocab.tokens[id];
    if (!is_ordinary(t, id) || text.empty() || text.size() > 2 * kMaxTokenBytes) continue;
    if (!bytes_of_alphabet(text, bytes)) continue;
    if (!t.symbols.bind(id, bytes) && n_twice++ == 0) first_twice = id;
  }
  if (n_twice > 0) {
    t.warnings.push_back(
        fmt::format("tokenizer.ggml.tokens: {} tokens repeat the text of an earlier one (the first is token {}); "
                    "encoding uses the earlier",
                    n_twice, first_twice));
  }
  for (size_t b = 0; b < 256; ++b) {
    t.byte_symbol[b] = t.symbols.add(std::string(1, static_cast<char>(b)));
    if (t.byte_symbol[b] < t.n_vocab) t.byte_token[b] = static_cast<int32_t>(t.byte_symbol[b]);
  }
  t.pairs.reserve(vocab.merges.size());
  size_joins(t, vocab.merges.size());
  t.risky.assign(65536, false);
  MergeProblems problems;
  std::vector<uint32_t> several;
  for (size_t i = 0; i < vocab.merges.size(); ++i) {
    MergeText m;
    if (!split_merge(vocab.merges[i], m) || !bytes_of_alphabet(m.left, left) || !bytes_of_alphabet(m.right, right) ||
        left.size() + right.size() > 2 * kMaxTokenBytes) {
      problems.note(i);
      continue;
    }
    const Symbol a = t.symbols.add(left), b = t.symbols.add(right);
    bytes = left + right;
    const Symbol merged = t.symbols.add(bytes);
    const auto rank = static_cast<uint32_t>(i);
    if (!t.pairs.insert(a, b, {rank, merged})) continue;
    if (is_whole_characters(left) && is_whole_characters(right)) {
      note_join(t, left, right);
      if (!is_ascii(bytes)) several.push_back(rank);
    } else if (!is_inside_one_character(bytes)) {
      t.risky[static_cast<uint8_t>(left.back()) * 256u + static_cast<uint8_t>(right.front())] = true;
    }
  }
  problems.warn(t);
  if (t.pre.ignore_merges) keep_tokens_whole(t);
  find_whole_characters(t, vocab.merges, several);
  return {};
}

Result<void> build_raw_bpe(const VocabData& vocab, Tables& t) {
  t.symbols = SymbolTable(t.n_vocab);
  bind_ordinary_tokens(vocab, t);
  find_byte_tokens(vocab, t);
  t.pairs.reserve(vocab.merges.size());
  size_joins(t, vocab.merges.size());
  MergeProblems problems;
  std::string whole;
  for (size_t i = 0; i < vocab.merges.size(); ++i) {
    MergeText m;
    if (!split_merge(vocab.merges[i], m) || m.left.size() + m.right.size() > 2 * kMaxTokenBytes) {
      problems.note(i);
      continue;
    }
    whole.assign(m.left).append(m.right);
    const Symbol a = t.symbols.add(m.left), b = t.symbols.add(m.right), merged = t.symbols.add(whole);
    if (t.pairs.insert(a, b, {static_cast<uint32_t>(i), merged})) note_join(t, m.left, m.right);
  }
  problems.warn(t);
  add_characters(t);
  return {};
}

void build_spm(const VocabData& vocab, Tables& t) {
  t.symbols = SymbolTable(t.n_vocab);
  bind_ordinary_tokens(vocab, t);
  find_byte_tokens(vocab, t);
  for (size_t b = 0; b < 128; ++b) {  // a file without <0xXX> tokens may still have the character itself
    if (t.byte_token[b] >= 0) continue;
    const Symbol s = t.symbols.find(std::string(1, static_cast<char>(b)));
    if (s < t.n_vocab) t.byte_token[b] = static_cast<int32_t>(s);
  }
  add_characters(t);
  std::vector<float> scores(t.n_vocab, 0.0f);
  for (uint32_t id = 0; id < t.n_vocab && !vocab.scores.empty(); ++id) {
    scores[id] = std::isnan(vocab.scores[id]) ? -std::numeric_limits<float>::infinity() : vocab.scores[id];
  }
  std::vector<float> order = scores;
  std::sort(order.begin(), order.end(), std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  const auto rank_of = [&](float score) {
    return static_cast<uint32_t>(std::lower_bound(order.begin(), order.end(), score, std::greater<>()) - order.begin());
  };
  t.pairs.reserve(size_t{t.n_vocab} * 4);
  size_joins(t, size_t{t.n_vocab} * 4);
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    const std::string_view text = t.symbols.text(id);
    const uint32_t rank = rank_of(scores[id]);
    for (size_t at = 1; at < text.size(); ++at) {
      if ((static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) continue;
      const Symbol a = t.symbols.find(text.substr(0, at));
      if (a == kNoSymbol) continue;
      const Symbol b = t.symbols.find(text.substr(at));
      if (b == kNoSymbol) continue;
      t.pairs.insert(a, b, {rank, id});
      note_join(t, text.substr(0, at), text.substr(at));
    }
  }
}

}  // namespace ridge::text
