// Ordinary text to ids. Byte-level: words from the pre-tokeniser, each merged by itself. SentencePiece and Gemma 4
// merge across the whole text; but where no merge ever joins two neighbouring characters the text falls apart by
// itself, and the parts are merged one by one with the same result and, being short and often seen, at the same speed.
#include "text/encoder.h"

#include "text/nfc.h"

namespace ridge::text {
namespace {

constexpr size_t kKeptBytes = size_t{1} << 20;

bool is_ascii(std::string_view word) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  const char* p = word.data();
  size_t n = word.size();
  uint64_t all = 0, v;
  for (; n >= 8; p += 8, n -= 8) {
    std::memcpy(&v, p, 8);
    all |= v;
  }
  for (; n > 0; ++p, --n) all |= static_cast<uint8_t>(*p);
  return !(all & kHighBits);
}

}  // namespace

void Encoder::append(std::string_view text, bool first, std::vector<int32_t>& ids) {
  if (text.empty()) return;
  switch (t_.kind) {
    case Kind::byte_bpe:
      if (t_.pre.nfc && !surely_nfc(text)) {
        text_ = nfc(text);
        text = text_;
      }
      append_byte_bpe(text, ids);
      break;
    case Kind::raw_bpe:
      append_raw_bpe(text, ids);
      break;
    case Kind::spm:
      if (t_.add_space_prefix && first) {
        text_.assign(1, ' ').append(text);
        text = text_;
      }
      append_joined(text, ids);
      break;
    case Kind::wordpiece:
      append_wordpiece(text, ids);
      break;
  }
}

void Encoder::emit_bytes(std::string_view bytes, std::vector<int32_t>& ids) const {
  for (const char c : bytes) {
    const int32_t token = t_.byte_token[static_cast<uint8_t>(c)];
    if (token >= 0) {
      ids.push_back(token);
    } else if (t_.special.unk) {
      ids.push_back(*t_.special.unk);
    }
  }
}

void Encoder::emit(const std::vector<Symbol>& symbols, std::vector<int32_t>& ids) const {
  for (const Symbol s : symbols) {
    if (s < t_.n_vocab) {
      ids.push_back(static_cast<int32_t>(s));
    } else {
      emit_bytes(t_.symbols.text(s), ids);
    }
  }
}

void Encoder::append_byte_bpe(std::string_view text, std::vector<int32_t>& ids) {
  split_words(t_.pre, text, ends_, spare_);
  uint32_t from = 0;
  for (const uint32_t end : ends_) {
    const std::string_view word = text.substr(from, end - from);
    from = end;
    if (word.size() == 1) {
      symbols_.assign(1, t_.byte_symbol[static_cast<uint8_t>(word[0])]);
      emit(symbols_, ids);
      continue;
    }
    if (is_ascii(word)) {
      cached(word, WordCache::Place::whole_word, ids, [&] { byte_word(word, ids); });
    } else {
      append_mixed_word(word, ids);
    }
  }
}

void Encoder::byte_word(std::string_view word, std::vector<int32_t>& ids) {
  if (t_.pre.ignore_merges && append_whole(word, ids)) return;
  begin_with_characters(word);
  merger_.merge(t_.pairs, symbols_);
  emit(symbols_, ids);
}

bool Encoder::append_whole(std::string_view word, std::vector<int32_t>& ids) const {
  const Symbol s = t_.symbols.find(word);
  if (s >= t_.n_vocab) return false;
  ids.push_back(static_cast<int32_t>(s));
  return true;
}

// A word that is not ASCII falls apart where no merge joins its characters: a Chinese clause into words of one to three
// characters, which repeat, as the clause does not. (A word that is one token does not: build_byte_bpe saw to that.)
void Encoder::append_mixed_word(std::string_view word, std::vector<int32_t>& ids) {
  const char* const end = word.data() + word.size();
  const char* p = word.data();
  while (p < end) {
    const char* const from = p;
    Char last = read_char(p, end);
    p += last.n_bytes;
    while (p < end) {
      const Char next = read_char(p, end);
      if (last.valid && next.valid && (last.code >= 0x80 || next.code >= 0x80) && !is_risky(p) &&
          !may_join(t_, last.code, next.code)) {
        break;
      }
      p += next.n_bytes;
      last = next;
    }
    const std::string_view part(from, static_cast<size_t>(p - from));
    if (part.size() == last.n_bytes && last.valid) {
      const Symbol s = t_.chars.of(last.code);
      if (s < t_.n_vocab) {
        ids.push_back(static_cast<int32_t>(s));
        continue;
      }
    }
    if (part.size() == word.size()) {
      cached(word, WordCache::Place::whole_word, ids, [&] { byte_word(word, ids); });
      return;
    }
    cached(part, WordCache::Place::part_of_word, ids, [&] {
      begin_with_characters(part);
      merger_.merge(t_.pairs, symbols_);
      emit(symbols_, ids);
    });
  }
}

// A character of several bytes begins whole where that is known to make no difference (see find_whole_characters).
void Encoder::begin_with_characters(std::string_view word) {
  symbols_.clear();
  const char* const begin = word.data();
  const char* const end = begin + word.size();
  const char* p = begin;
  bool whole = true;
  while (p < end) {
    const auto byte = static_cast<uint8_t>(*p);
    if (byte < 0x80) {
      symbols_.push_back(t_.byte_symbol[byte]);
      ++p;
      continue;
    }
    const Char c = read_char(p, end);
    if (whole && !c.valid) {  // stray bytes may merge with anything: begin again with bytes
      whole = false;
      symbols_.clear();
      p = begin;
      continue;
    }
    const char* next = p + c.n_bytes;
    const Symbol s = whole ? t_.chars.of(c.code) : kNoSymbol;
    if (s != kNoSymbol && (p == begin || !is_risky(p)) && (next == end || !is_risky(next))) {
      symbols_.push_back(s);
    } else {
      for (const char* b = p; b < next; ++b) symbols_.push_back(t_.byte_symbol[static_cast<uint8_t>(*b)]);
    }
    p = next;
  }
}

void Encoder::append_raw_bpe(std::string_view text, std::vector<int32_t>& ids) {
  split_words(t_.pre, text, ends_, spare_);
  uint32_t from = 0;
  for (const uint32_t end : ends_) {
    const std::string_view word = text.substr(from, end - from);
    from = end;
    if ((t_.pre.ignore_merges || (t_.pre.newline_words && word[0] == '\n')) && append_whole(word, ids)) continue;
    append_joined(word, ids);
  }
}

void Encoder::append_joined(std::string_view text, std::vector<int32_t>& ids) {
  const bool escaped = t_.pre.escape_spaces;
  const auto join_code = [escaped](uint32_t code) { return escaped && code == 0x2581 ? uint32_t{' '} : code; };
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  while (p < end) {
    const char* const from = p;
    Char c = read_char(p, end);
    const Symbol first = c.valid ? t_.chars.of(c.code) : kNoSymbol;
    uint32_t last = join_code(c.code);
    p += c.n_bytes;
    if (first == kNoSymbol) {  // in no token: its bytes, and nothing merges with it
      emit_bytes(std::string_view(from, static_cast<size_t>(p - from)), ids);
      continue;
    }
    symbols_.clear();
    symbols_.push_back(first);
    while (p < end) {
      c = read_char(p, end);
      const Symbol next = c.valid ? t_.chars.of(c.code) : kNoSymbol;
      const uint32_t code = join_code(c.code);
      if (next == kNoSymbol || !may_join(t_, last, code)) break;
      symbols_.push_back(next);
      last = code;
      p += c.n_bytes;
    }
    if (symbols_.size() == 1) {
      emit(symbols_, ids);
      continue;
    }
    cached(std::string_view(from, static_cast<size_t>(p - from)), WordCache::Place::part_of_word, ids, [&] {
      merger_.merge(t_.pairs, symbols_);
      emit(symbols_, ids);
    });
  }
}

size_t Encoder::memory_bytes() const {
  return cache_.memory_bytes() + merger_.memory_bytes() + symbols_.capacity() * 4 + ends_.capacity() * 4 +
         spare_.capacity() * 4 + text_.capacity();
}

void Encoder::trim() {
  merger_.trim();
  if (symbols_.capacity() > kKeptBytes / 4) symbols_ = {};
  if (ends_.capacity() > kKeptBytes / 4) ends_ = {};
  if (spare_.capacity() > kKeptBytes / 4) spare_ = {};
  if (text_.capacity() > kKeptBytes) text_ = {};
}

}  // namespace ridge::text
