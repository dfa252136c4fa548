// Pre-tokenisers whose expression covers all text: words, numbers, punctuation, white space. Each function carries the
// expression it stands for. Backtracking is resolved by hand: what an engine would find by giving characters back is
// computed.
#include "text/pretokenizer.h"

namespace ridge::text {
namespace {

enum class Contractions : uint8_t { none, lower_case, any_case };
enum class Tail : uint8_t { none, newlines, newlines_and_slashes, one_newline_or_slash };

struct Rules {
  Contractions contractions = Contractions::any_case;
  uint16_t letters = kLetter;  // what a word is made of
  int max_digits = 1;          // 0: no limit
  Tail tail = Tail::newlines;  // what a run of punctuation takes along
  bool phrases = false;        // letters joined by single spaces are one word (EXAONE-MoE)
  bool space_cascade = false;  // long white space in runs of 512, 256, ... 4, 2, 1 (Jais 2)
};

// A walk over one input. Loops over ASCII look the class up by the byte.
class Walk {
 public:
  Walk(const SplitInput& in, std::vector<uint32_t>& ends)
      : p(in.begin), end(in.end), table_(*in.table), base_(in.base), ends_(ends), space_end_(in.begin) {}

  Classed at(const char* q) const { return classed_at(table_, q, end); }

  // The end of the run of characters that have a class of `mask`, from q.
  const char* run(const char* q, uint16_t mask) const {
    while (q < end) {
      const auto byte = static_cast<uint8_t>(*q);
      if (byte < 0x80) {
        if (!(table_.ascii(byte) & mask)) return q;
        ++q;
        continue;
      }
      const Classed c = at(q);
      if (!(c.cls & mask)) return q;
      q += c.n_bytes;
    }
    return q;
  }

  // The end of the run of characters that have no class of `mask`.
  const char* run_without(const char* q, uint16_t mask) const {
    while (q < end) {
      const Classed c = at(q);
      if (c.cls & mask) return q;
      q += c.n_bytes;
    }
    return q;
  }

  const char* run_of_two(const char* q, char a, char b) const {
    while (q < end && (*q == a || *q == b)) ++q;
    return q;
  }

  const char* numbers(const char* q, int max_digits) const {
    if (max_digits == 0) return run(q, kNumber);
    for (int i = 0; i < max_digits; ++i) {
      const Classed c = at(q);
      if (!(c.cls & kNumber)) break;
      q += c.n_bytes;
    }
    return q;
  }

  // 's 't 're 've 'm 'll 'd at q, which holds the apostrophe: the end, or null.
  const char* contraction(const char* q, bool any_case) const {
    const auto letter = [&](int i) -> char {
      if (q + i >= end) return 0;
      const char c = q[i];
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    };
    const char a = letter(1);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return q + 2;
    const char b = letter(2);
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return q + 3;
    return nullptr;
  }

  // ` ?[^\s...]+` with its tail: the end, or null. `cls` is the class of the character at q.
  const char* punctuation(const char* q, uint16_t cls, uint16_t not_these, Tail tail) const {
    const char* from = *q == ' ' ? q + 1 : q;
    const Classed c = from == q ? Classed{0, 1, cls} : at(from);
    if (c.n_bytes == 0 || (c.cls & not_these)) return nullptr;
    return with_tail(run_without(from, not_these), tail);
  }

  const char* with_tail(const char* q, Tail tail) const {
    switch (tail) {
      case Tail::none:
        return q;
      case Tail::newlines:
        return run_of_two(q, '\r', '\n');
      case Tail::newlines_and_slashes:
        while (q < end && (*q == '\r' || *q == '\n' || *q == '/')) ++q;
        return q;
      case Tail::one_newline_or_slash:
        return q < end && (*q == '\r' || *q == '\n' || *q == '/') ? q + 1 : q;
    }
    return q;
  }

  // `\s*[\r\n]+|\s+(?!\S)|\s+` at white space q. A long run is measured once, however many words it gives.
  const char* white_space(const char* q, bool newlines, bool cascade) {
    if (q >= space_end_) measure_space(q);
    if (newlines && last_newline_end_ > q) return last_newline_end_;
    if (cascade) return space_cascade(q);
    if (space_end_ == end) return space_end_;
    return last_space_ > q ? last_space_ : space_end_;
  }

  void word(const char* to) {
    p = to;
    ends_.push_back(static_cast<uint32_t>(to - base_));
  }

  const char* p;
  const char* const end;

 private:
  void measure_space(const char* q) {
    last_newline_end_ = nullptr;
    while (q < end) {
      const Classed c = at(q);
      if (!(c.cls & kSpace)) break;
      last_space_ = q;
      q += c.n_bytes;
      if (c.cls & kNewline) last_newline_end_ = q;
    }
    space_end_ = q;
  }

  // \s{512}(?!\S)|\s{256}(?!\S)|...|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}
  const char* space_cascade(const char* q) const {
    int n = 0;
    const char* at_count[513];
    const char* r = q;
    for (; n < 512 && r < space_end_; ++n) {
      at_count[n] = r;
      r += at(r).n_bytes;
    }
    at_count[n] = r;
    const bool open = space_end_ == end;  // nothing but the end behind the run
    for (int size = 512; size >= 1; size /= 2) {
      if (n >= size && (at_count[size] < space_end_ || open)) return at_count[size];
    }
    return at_count[1];
  }

  const CharTable& table_;
  const char* const base_;
  std::vector<uint32_t>& ends_;
  const char* space_end_;
  const char* last_space_ = nullptr;
  const char* last_newline_end_ = nullptr;
};

// [^\r\n\p{L}\p{N}]?\p{L}+ at q: the end, or null.
template <Rules R>
const char* letters(const Walk& w, const char* q, uint16_t cls) {
  const char* from = q;
  if (!(cls & R.letters)) {
    if (cls & (kNewline | kNumber)) return nullptr;
    from = q + w.at(q).n_bytes;
    if (!(w.at(from).cls & R.letters)) return nullptr;
  }
  const char* to = w.run(from, R.letters);
  if constexpr (R.phrases) {
    // (?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+ : marks only behind a letter, single spaces only before one.
    if (!(w.at(from).cls & kLetter)) return nullptr;
    to = from;
    while (true) {
      to = w.run(to, kLetter | kMark);
      if (to < w.end && *to == ' ' && (w.at(to + 1).cls & kLetter)) {
        ++to;
        continue;
      }
      return to;
    }
  }
  return to;
}

// The Llama 3 family:
// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
template <Rules R>
void split(const SplitInput& in, std::vector<uint32_t>& ends) {
  constexpr uint16_t kNotPunct = kSpace | kNumber | R.letters | kLetter;
  Walk w(in, ends);
  while (w.p < w.end) {
    const char* q = w.p;
    const Classed c = w.at(q);
    if constexpr (R.contractions != Contractions::none) {
      if (c.code == '\'') {
        if (const char* to = w.contraction(q, R.contractions == Contractions::any_case)) {
          w.word(to);
          continue;
        }
      }
    }
    if (const char* to = letters<R>(w, q, c.cls)) {
      w.word(to);
    } else if (c.cls & kNumber) {
      w.word(w.numbers(q, R.max_digits));
    } else if (const char* punct = w.punctuation(q, c.cls, kNotPunct, R.tail)) {
      w.word(punct);
    } else if (c.cls & kSpace) {
      w.word(w.white_space(q, true, R.space_cascade));
    } else {
      w.word(q + c.n_bytes);  // a mark that no alternative takes
    }
  }
}

// Words that change case: U is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], W is [\p{Ll}\p{Lm}\p{Lo}\p{M}]; some characters are
// both. U*W+ at s: U* takes all it can, then gives back to the last character that is also W.
const char* upper_then_lower(const Walk& w, const char* s) {
  const char* last_both = nullptr;
  const char* last_both_end = nullptr;
  const char* q = s;
  while (true) {
    const Classed c = w.at(q);
    if (!(c.cls & kUpper)) {
      if (c.cls & kLower) return w.run(q, kLower);
      return last_both == nullptr ? nullptr : last_both_end;
    }
    if (c.cls & kLower) last_both = q, last_both_end = q + c.n_bytes;
    q += c.n_bytes;
  }
}

// U+W* at s.
const char* upper_run(const Walk& w, const char* s) {
  const char* q = w.run(s, kUpper);
  return q == s ? nullptr : w.run(q, kLower);
}

// [^\r\n\p{L}\p{N}]?U*W+ | [^\r\n\p{L}\p{N}]?U+W* at q: the end, or null.
const char* cased_word(const Walk& w, const char* q, Classed c) {
  if (c.cls & kLetter) {
    if (const char* to = upper_then_lower(w, q)) return to;
    return upper_run(w, q);
  }
  if (c.cls & (kNewline | kNumber)) return nullptr;
  const char* next = q + c.n_bytes;
  const bool mark = (c.cls & kMark) != 0;
  if (const char* to = upper_then_lower(w, next)) return to;
  if (mark) {
    if (const char* to = upper_then_lower(w, q)) return to;
  }
  if (const char* to = upper_run(w, next)) return to;
  return mark ? upper_run(w, q) : nullptr;
}

// The GPT-4o family: cased words, then as above with [\r\n/]* behind punctuation.
template <bool kContractions, int kMaxDigits>
void split_cased(const SplitInput& in, std::vector<uint32_t>& ends) {
  Walk w(in, ends);
  while (w.p < w.end) {
    const char* q = w.p;
    const Classed c = w.at(q);
    if (const char* to = cased_word(w, q, c)) {
      if (kContractions && to < w.end && *to == '\'') {
        if (const char* further = w.contraction(to, true)) to = further;
      }
      w.word(to);
    } else if (c.cls & kNumber) {
      w.word(w.numbers(q, kMaxDigits));
    } else if (const char* punct = w.punctuation(q, c.cls, kSpace | kLetter | kNumber, Tail::newlines_and_slashes)) {
      w.word(punct);
    } else if (c.cls & kSpace) {
      w.word(w.white_space(q, true, false));
    } else {
      w.word(q + c.n_bytes);
    }
  }
}

}  // namespace

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
void split_gpt2(const SplitInput& in, std::vector<uint32_t>& ends) {
  Walk w(in, ends);
  while (w.p < w.end) {
    const char* q = w.p;
    const Classed c = w.at(q);
    if (c.code == '\'') {
      if (const char* to = w.contraction(q, false)) {
        w.word(to);
        continue;
      }
    }
    const char* from = c.code == ' ' ? q + 1 : q;
    const uint16_t cls = from == q ? c.cls : w.at(from).cls;
    if (cls & kLetter) {
      w.word(w.run(from, kLetter));
    } else if (cls & kNumber) {
      w.word(w.run(from, kNumber));
    } else if (from < w.end && !(cls & kSpace)) {
      w.word(w.run_without(from, kSpace | kLetter | kNumber));
    } else {
      w.word(w.white_space(q, false, false));
    }
  }
}

void split_llama3(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.max_digits = 3}>(in, ends);
}

void split_qwen2(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{}>(in, ends);
}

// [\p{L}\p{M}]+ for words, and [^\s\p{L}\p{M}\p{N}]+ for punctuation
void split_qwen35(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.letters = kLetter | kMark}>(in, ends);
}

void split_jais2(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.max_digits = 3, .space_cascade = true}>(in, ends);
}

void split_minicpm5(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.max_digits = 0}>(in, ends);
}

// ... | ?[^\s\p{L}\p{N}\r\n]+|...
void split_seed_coder(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.tail = Tail::none}>(in, ends);
}

void split_ufakzeka(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.contractions = Contractions::none}>(in, ends);
}

void split_exaone_moe(const SplitInput& in, std::vector<uint32_t>& ends) {
  split<Rules{.tail = Tail::one_newline_or_slash, .phrases = true}>(in, ends);
}

void split_gpt4o(const SplitInput& in, std::vector<uint32_t>& ends) {
  split_cased<true, 3>(in, ends);
}
void split_tekken(const SplitInput& in, std::vector<uint32_t>& ends) {
  split_cased<false, 1>(in, ends);
}
void split_youtu_words(const SplitInput& in, std::vector<uint32_t>& ends) {
  split_cased<true, 1>(in, ends);
}

// [\p{Han}]+ first; then GPT-4o's words with Han taken out of their letters, \p{N}{1,3} and [\r\n]* behind punctuation.
void split_kimi_k2(const SplitInput& in, std::vector<uint32_t>& ends) {
  Walk w(in, ends);
  const char* cased_end =
      in.begin;  // of the run of cased characters measured last: measured once, it may hold many words
  while (w.p < w.end) {
    const char* q = w.p;
    const Classed c = w.at(q);
    if (c.cls & kHan) {
      w.word(w.run(q, kHan));
      continue;
    }
    // A word must not run into Han: it is looked for in the text up to the next Han character.
    const char* to = nullptr;
    const char* first = (c.cls & kLetter) ? q : q + c.n_bytes;
    if ((c.cls & kLetter) || (w.at(first).cls & (kUpper | kLower))) {
      if (first >= cased_end) {
        cased_end = first;
        while (cased_end < w.end) {
          const Classed d = w.at(cased_end);
          if ((d.cls & kHan) || !(d.cls & (kUpper | kLower))) break;
          cased_end += d.n_bytes;
        }
      }
      SplitInput part = in;
      part.begin = q, part.end = cased_end;
      std::vector<uint32_t> none;
      const Walk inner(part, none);
      to = cased_word(inner, q, c);
    } else if (c.cls & kMark) {
      to = q + c.n_bytes;  // W+ on the mark itself
    }
    if (to != nullptr) {
      if (to < w.end && *to == '\'') {
        if (const char* further = w.contraction(to, true)) to = further;
      }
      w.word(to);
    } else if (c.cls & kNumber) {
      w.word(w.numbers(q, 3));
    } else if (const char* punct = w.punctuation(q, c.cls, kSpace | kLetter | kNumber, Tail::newlines)) {
      w.word(punct);
    } else if (c.cls & kSpace) {
      w.word(w.white_space(q, true, false));
    } else {
      w.word(q + c.n_bytes);
    }
  }
}

namespace {

bool is_ascii_letter(uint32_t code) {
  return (code | 32) >= 'a' && (code | 32) <= 'z' && code < 128;
}
bool is_ascii_punct(uint32_t code) {
  return code > 32 && code < 127 && !is_ascii_letter(code) && !(code >= '0' && code <= '9');
}

// [!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// What no alternative takes (numbers that stand alone, control characters) joins the gap before the next word.
const char* deepseek3_word(Walk& w, const char* q, Classed c, bool spark) {
  if (is_ascii_punct(c.code)) {
    const char* to = q + 1;
    while (to < w.end && is_ascii_letter(static_cast<uint8_t>(*to))) ++to;
    if (to > q + 1) return to;
  }
  if (c.cls & (kLetter | kMark)) return w.run(q, kLetter | kMark);
  if (!(c.cls & (kNewline | kPunct | kSymbol))) {
    const char* next = q + c.n_bytes;
    if (w.at(next).cls & (kLetter | kMark)) return w.run(next, kLetter | kMark);
  }
  const char* from = c.code == ' ' ? q + 1 : q;
  if (w.at(from).cls & (kPunct | kSymbol)) {
    return w.with_tail(w.run(from, kPunct | kSymbol), spark ? Tail::none : Tail::newlines);
  }
  if (!(c.cls & kSpace)) return nullptr;
  if (!spark) return w.white_space(q, true, false);
  return (c.cls & kNewline) ? q + 1 : w.white_space(q, false, false);  // [\r\n]|\s+(?!\S)|\s+
}

void split_deepseek_like(const SplitInput& in, std::vector<uint32_t>& ends, bool spark) {
  Walk w(in, ends);
  const char* q = w.p;
  while (q < w.end) {
    const Classed c = w.at(q);
    const char* to = deepseek3_word(w, q, c, spark);
    if (to == nullptr) {
      q += c.n_bytes;
      continue;
    }
    if (q > w.p) w.word(q);
    w.word(to);
    q = to;
  }
  if (q > w.p) w.word(q);
}

}  // namespace

void split_deepseek3_words(const SplitInput& in, std::vector<uint32_t>& ends) {
  split_deepseek_like(in, ends, false);
}

// As above, but punctuation takes no newlines along and each newline stands alone.
void split_spark_words(const SplitInput& in, std::vector<uint32_t>& ends) {
  split_deepseek_like(in, ends, true);
}

}  // namespace ridge::text
