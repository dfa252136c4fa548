// WordPiece as BERT has it: clean, take accents off, lower-case, cut at white space, punctuation and Chinese
// characters, then from the left the longest token each time. Tokens that begin a word begin with U+2581, the others
// stand for "##...".
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/encoder.h"
#include "text/nfc.h"

namespace ridge::text {
namespace {

// As BERT's basic tokeniser counts them; 2B920 is what its published implementation has.
bool is_chinese(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

constexpr std::string_view kWordStart = "\xE2\x96\x81";

}  // namespace

void Encoder::append_wordpiece_word(std::string_view word, std::vector<int32_t>& ids) {
  const size_t from = ids.size();
  for (size_t at = 0; at < word.size();) {
    uint32_t node = Trie::kRoot;
    int32_t best = -1;
    size_t best_end = at;
    for (size_t i = at; i < word.size(); ++i) {
      node = t_.words.child(node, static_cast<uint8_t>(word[i]));
      if (node == Trie::kNone) break;
      if (t_.words.value(node) >= 0) best = t_.words.value(node), best_end = i + 1;
    }
    if (best < 0) {
      ids.resize(from);
      if (t_.special.unk) ids.push_back(*t_.special.unk);
      return;
    }
    ids.push_back(best);
    at = best_end;
  }
}

void Encoder::append_wordpiece(std::string_view text, std::vector<int32_t>& ids) {
  const CharTable& table = char_table();
  std::string word(kWordStart);
  std::vector<uint32_t> parts;
  const auto flush = [&] {
    if (word.size() == kWordStart.size()) return;
    cached(word, WordCache::Place::whole_word, ids, [&] { append_wordpiece_word(word, ids); });
    word.resize(kWordStart.size());
  };
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Char c = read_char(p, end);
    p += c.n_bytes;
    parts.clear();
    if (t_.strip_accents) {
      append_nfd(parts, c.code);
    } else {
      parts.push_back(c.code);
    }
    for (uint32_t code : parts) {
      const uint16_t cls = table.of(code);
      if (cls & kSpace) {
        flush();
        continue;
      }
      if (code == 0 || code == 0xFFFD || (cls & kControl)) continue;
      if (t_.strip_accents && (cls & kNonSpacing)) continue;
      if (t_.lowercase) code = static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
      const bool alone = (cls & kPunct) || (code < 0x7F && (cls & kSymbol)) || is_chinese(code);
      if (alone) flush();
      utf8_append(word, code);
      if (alone) flush();
    }
  }
  flush();
}

}  // namespace ridge::text
