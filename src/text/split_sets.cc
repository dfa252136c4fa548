// Stages that cut runs of a set of characters out of the text and leave what lies between as words of its own. The sets
// and ranges are those of the published expressions; each function carries the one it stands for.
#include <cstring>

#include "text/pretokenizer.h"

namespace ridge::text {
namespace {

struct Range {
  uint32_t first, last;
};

// Cased letters of Latin, Greek, Cyrillic, Armenian, Georgian, Cherokee, Glagolitic, Coptic, Deseret, Osage, Old
// Hungarian, Warang Citi and Adlam, as DeepSeek-LLM's expression lists them.
constexpr Range kDeepseekLetters[] = {
    {'A', 'Z'},         {'a', 'z'},         {0xB5, 0xB5},       {0xC0, 0xD6},       {0xD8, 0xF6},
    {0xF8, 0x1BA},      {0x1BC, 0x1BF},     {0x1C4, 0x293},     {0x295, 0x2AF},     {0x370, 0x373},
    {0x376, 0x377},     {0x37B, 0x37D},     {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x38A},
    {0x38C, 0x38C},     {0x38E, 0x3A1},     {0x3A3, 0x3F5},     {0x3F7, 0x481},     {0x48A, 0x52F},
    {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},   {0x13F8, 0x13FD},   {0x1C90, 0x1CBA},
    {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},   {0x1D6B, 0x1D77},   {0x1D79, 0x1D9A},   {0x1E00, 0x1F15},
    {0x1F18, 0x1F1D},   {0x1F20, 0x1F45},   {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},   {0x1F59, 0x1F59},
    {0x1F5B, 0x1F5B},   {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},   {0x1FB6, 0x1FBC},
    {0x1FBE, 0x1FBE},   {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},   {0x1FD0, 0x1FD3},   {0x1FD6, 0x1FDB},
    {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},   {0x1FF6, 0x1FFC},   {0x2102, 0x2102},   {0x2107, 0x2107},
    {0x210A, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211D},   {0x2124, 0x2124},   {0x2126, 0x2126},
    {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},   {0x213C, 0x213F},
    {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2184},   {0x2C00, 0x2C7B},   {0x2C7E, 0x2CE4},
    {0x2CEB, 0x2CEE},   {0x2CF2, 0x2CF3},   {0xA640, 0xA66D},   {0xA680, 0xA69B},   {0xA722, 0xA76F},
    {0xA771, 0xA787},   {0xA78B, 0xA78E},   {0xAB70, 0xABBF},   {0xFB00, 0xFB06},   {0xFB13, 0xFB17},
    {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},   {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB},
    {0x10C80, 0x10CB2}, {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943},
};

constexpr Range kDeepseekPunctuation[] = {
    {0x21, 0x2F}, {0x3A, 0x7E}, {0x2018, 0x201F}, {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E},
};
constexpr Range kDeepseekCjk[] = {{0x0800, 0x9FA5},
                                  {0xAC00, 0xD7FF}};  // "[一-龥ࠀ-一가-퟿]": the first two ranges meet
constexpr Range kDeepseek3Cjk[] = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}};

// Han, kana, half-width kana, radicals, Thai, Lao, Khmer, Myanmar with its extensions, Hangul
constexpr Range kAfmoeScripts[] = {
    {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1100, 0x11FF}, {0x1780, 0x17FF}, {0x2F00, 0x2FDF},
    {0x3040, 0x30FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA9E0, 0xA9FF}, {0xAA60, 0xAA7F},
    {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0xFF65, 0xFF9F},
};

constexpr Range kYoutuHangul[] = {{0x3131, 0x318E}, {0xAC00, 0xD7A3}};
constexpr Range kYoutuPunctuation[] = {
    {0x2014, 0x2014}, {0x2018, 0x2019}, {0x201C, 0x201D}, {0x2026, 0x2026}, {0x3001, 0x303F},
    {0xFE30, 0xFE4F}, {0xFF01, 0xFF01}, {0xFF0C, 0xFF0C}, {0xFF1A, 0xFF1B},
};
constexpr Range kYoutuBopomofo[] = {{0x3105, 0x312F}};

template <size_t N>
bool in(const Range (&ranges)[N], uint32_t code) {
  size_t lo = 0, hi = N;
  while (lo < hi) {
    const size_t mid = (lo + hi) / 2;
    if (code > ranges[mid].last) {
      lo = mid + 1;
    } else if (code < ranges[mid].first) {
      hi = mid;
    } else {
      return true;
    }
  }
  return false;
}

// match(q, c): the end of a match that begins at q, whose character is c, or null. It never looks back.
template <class Match>
void cut(const SplitInput& in, std::vector<uint32_t>& ends, Match match) {
  const char* gap = in.begin;
  const char* q = in.begin;
  const auto word = [&](const char* to) { ends.push_back(static_cast<uint32_t>(to - in.base)); };
  while (q < in.end) {
    const Classed c = classed_at(*in.table, q, in.end);
    const char* to = match(q, c);
    if (to == nullptr) {
      q += c.n_bytes;
      continue;
    }
    if (q > gap) word(q);
    word(to);
    gap = q = to;
  }
  if (q > gap) word(q);
}

template <class Set>
const char* run_of(const SplitInput& in, const char* q, Set set) {
  while (q < in.end) {
    const Classed c = classed_at(*in.table, q, in.end);
    if (!set(c)) break;
    q += c.n_bytes;
  }
  return q;
}

template <class Set>
void cut_runs(const SplitInput& in, std::vector<uint32_t>& ends, Set set) {
  cut(in, ends, [&](const char* q, Classed c) -> const char* { return set(c) ? run_of(in, q, set) : nullptr; });
}

template <class Set>
void cut_each(const SplitInput& in, std::vector<uint32_t>& ends, Set set) {
  cut(in, ends, [&](const char* q, Classed c) -> const char* { return set(c) ? q + c.n_bytes : nullptr; });
}

// \s?[set]+
template <class Set>
void cut_runs_with_space(const SplitInput& in, std::vector<uint32_t>& ends, Set set) {
  cut(in, ends, [&](const char* q, Classed c) -> const char* {
    if (c.cls & kSpace) {
      const char* next = q + c.n_bytes;
      const Classed d = classed_at(*in.table, next, in.end);
      if (d.n_bytes != 0 && set(d)) return run_of(in, next, set);
    }
    return set(c) ? run_of(in, q, set) : nullptr;
  });
}

const auto has = [](uint16_t mask) { return [mask](const Classed& c) { return (c.cls & mask) != 0; }; };
bool is_code(const Classed& c, const char* set) {
  return c.code < 128 && c.code != 0 && std::strchr(set, static_cast<int>(c.code));
}

// \w as the engine of tokenizer.json counts it, for a character that follows a digit: letters, marks, decimal digits,
// letter-like numbers (Roman, Hangzhou), connectors and joiners. Superscripts and fractions are none.
bool is_word(const Classed& c) {
  if (c.cls & (kLetter | kMark | kDigit)) return true;
  if (c.cls & kNumber) return (c.cls & kHan) || (c.code >= 0x2160 && c.code <= 0x2188);
  return c.code == '_' || c.code == 0x200C || c.code == 0x200D;
}

// Right-aligned groups of three in each run of the class; what lies between runs stays together.
void group_from_right(const SplitInput& in, std::vector<uint32_t>& ends, uint16_t mask,
                      bool before_word_boundary_only) {
  const auto word = [&](const char* to) { ends.push_back(static_cast<uint32_t>(to - in.base)); };
  const char* gap = in.begin;
  const char* q = in.begin;
  while (q < in.end) {
    const Classed c = classed_at(*in.table, q, in.end);
    if (!(c.cls & mask)) {
      q += c.n_bytes;
      continue;
    }
    size_t n = 0;
    const char* to = run_of(in, q, [&](const Classed& d) { return (d.cls & mask) != 0 && ++n; });
    if (before_word_boundary_only) {
      if (is_word(classed_at(*in.table, to, in.end))) {
        q = to;
        continue;
      }
    }
    if (q > gap) word(q);
    for (size_t i = 0; i < n; ++i) {
      q += classed_at(*in.table, q, in.end).n_bytes;
      if ((n - i - 1) % 3 == 0) word(q);
    }
    gap = q;
  }
  if (q > gap) word(q);
}

}  // namespace

// [^\n]+|[\n]+
void split_newline_runs(const SplitInput& in, std::vector<uint32_t>& ends) {
  const char* q = in.begin;
  while (q < in.end) {
    if (*q == '\n') {
      while (q < in.end && *q == '\n') ++q;
    } else {
      const void* next = std::memchr(q, '\n', static_cast<size_t>(in.end - q));
      q = next == nullptr ? in.end : static_cast<const char*>(next);
    }
    ends.push_back(static_cast<uint32_t>(q - in.base));
  }
}

// [\r\n]
void split_each_newline(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_each(in, ends, has(kNewline));
}

// \p{N}
void split_each_number(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_each(in, ends, has(kNumber));
}

// \p{N}+
void split_number_runs(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_runs(in, ends, has(kNumber));
}

// \p{N}{1,3}
void split_numbers_by_3(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut(in, ends, [&](const char* q, Classed c) -> const char* {
    if (!(c.cls & kNumber)) return nullptr;
    for (int i = 0; i < 3; ++i) {
      const Classed d = classed_at(*in.table, q, in.end);
      if (!(d.cls & kNumber)) break;
      q += d.n_bytes;
    }
    return q;
  });
}

// [0-9][0-9][0-9]
void split_ascii_digits_by_3(const SplitInput& in, std::vector<uint32_t>& ends) {
  const auto digit = [&](const char* q) { return q < in.end && *q >= '0' && *q <= '9'; };
  cut(in, ends, [&](const char* q, Classed) -> const char* {
    return digit(q) && digit(q + 1) && digit(q + 2) ? q + 3 : nullptr;
  });
}

// (?=(\d{3})+(?!\d)): a cut before every digit from which a multiple of three are left, and nowhere else
void split_digits_from_right(const SplitInput& in, std::vector<uint32_t>& ends) {
  const char* word = in.begin;
  const char* q = in.begin;
  while (q < in.end) {
    size_t n = 0;
    const char* to = run_of(in, q, [&](const Classed& d) { return (d.cls & kDigit) != 0 && ++n; });
    for (; n > 0; --n) {
      if (n % 3 == 0 && q > word) {
        ends.push_back(static_cast<uint32_t>(q - in.base));
        word = q;
      }
      q += classed_at(*in.table, q, in.end).n_bytes;
    }
    if (q == to && q < in.end) q += classed_at(*in.table, q, in.end).n_bytes;
  }
  if (q > word) ends.push_back(static_cast<uint32_t>(q - in.base));
}

// AFMoE: a run of n numbers is cut into one word of n mod 3 (if not 0) and words of 3
void split_numbers_from_right(const SplitInput& in, std::vector<uint32_t>& ends) {
  group_from_right(in, ends, kNumber, false);
}

// \d{1,3}(?=(?:\d{3})*\b)
void split_digits_before_boundary(const SplitInput& in, std::vector<uint32_t>& ends) {
  group_from_right(in, ends, kDigit, true);
}

// \s?\p{L}+
void split_letters(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_runs_with_space(in, ends, has(kLetter));
}

// \s?\p{P}+
void split_punctuation(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_runs_with_space(in, ends, has(kPunct));
}

// [\p{P}\$\+<=>\^~\|`]+
void split_falcon_punctuation(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_runs(in, ends, [](const Classed& c) { return (c.cls & kPunct) || is_code(c, "$+<=>^~|`"); });
}

// [\p{P}\$\+<=>\^~\|]+
void split_default_punctuation(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_runs(in, ends, [](const Classed& c) { return (c.cls & kPunct) || is_code(c, "$+<=>^~|"); });
}

void split_deepseek_letters(const SplitInput& input, std::vector<uint32_t>& ends) {
  cut_runs_with_space(input, ends, [](const Classed& c) { return in(kDeepseekLetters, c.code); });
}

// \s?[!-/:-~！-／：-～‘-‟　-。]+
void split_deepseek_punctuation(const SplitInput& input, std::vector<uint32_t>& ends) {
  cut_runs_with_space(input, ends, [](const Classed& c) { return in(kDeepseekPunctuation, c.code); });
}

// \s+$
void split_trailing_space(const SplitInput& in, std::vector<uint32_t>& ends) {
  const char* from = in.begin;  // where the white space that reaches the end begins
  for (const char* q = in.begin; q < in.end;) {
    const Classed c = classed_at(*in.table, q, in.end);
    q += c.n_bytes;
    if (!(c.cls & kSpace)) from = q;
  }
  if (from > in.begin) ends.push_back(static_cast<uint32_t>(from - in.base));
  if (from < in.end) ends.push_back(static_cast<uint32_t>(in.end - in.base));
}

void split_deepseek_cjk(const SplitInput& input, std::vector<uint32_t>& ends) {
  cut_runs(input, ends, [](const Classed& c) { return in(kDeepseekCjk, c.code); });
}

// [一-龥぀-ゟ゠-ヿ]+
void split_deepseek3_cjk(const SplitInput& input, std::vector<uint32_t>& ends) {
  cut_runs(input, ends, [](const Classed& c) { return in(kDeepseek3Cjk, c.code); });
}

void split_afmoe_scripts(const SplitInput& input, std::vector<uint32_t>& ends) {
  cut_runs(input, ends, [](const Classed& c) { return in(kAfmoeScripts, c.code); });
}

// [가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+
void split_youtu_scripts(const SplitInput& input, std::vector<uint32_t>& ends) {
  cut(input, ends, [&](const char* q, Classed c) -> const char* {
    if (c.code < 0x2014) return nullptr;
    if (in(kYoutuHangul, c.code)) return run_of(input, q, [](const Classed& d) { return in(kYoutuHangul, d.code); });
    if (in(kYoutuPunctuation, c.code)) {
      return run_of(input, q, [](const Classed& d) { return in(kYoutuPunctuation, d.code); });
    }
    if (in(kYoutuBopomofo, c.code))
      return run_of(input, q, [](const Classed& d) { return in(kYoutuBopomofo, d.code); });
    if (in(kDeepseek3Cjk, c.code)) return run_of(input, q, [](const Classed& d) { return in(kDeepseek3Cjk, d.code); });
    return nullptr;
  });
}

//  ?[^(\s|.,!?…。，、।۔،)]+
void split_bloom(const SplitInput& in, std::vector<uint32_t>& ends) {
  const auto word = [](const Classed& c) {
    if (c.cls & kSpace) return false;
    if (c.code < 128) return !is_code(c, "(|.,!?)");
    return c.code != 0x2026 && c.code != 0x3002 && c.code != 0xFF0C && c.code != 0x3001 && c.code != 0x0964 &&
           c.code != 0x06D4 && c.code != 0x060C;
  };
  cut(in, ends, [&](const char* q, Classed c) -> const char* {
    if (c.code == ' ') {
      const Classed d = classed_at(*in.table, q + 1, in.end);
      return d.n_bytes != 0 && word(d) ? run_of(in, q + 1, word) : nullptr;
    }
    return word(c) ? run_of(in, q, word) : nullptr;
  });
}

// <sentinel:[0-9]+>
void split_sentinels(const SplitInput& in, std::vector<uint32_t>& ends) {
  constexpr std::string_view kHead = "<sentinel:";
  cut(in, ends, [&](const char* q, Classed c) -> const char* {
    if (c.code != '<' || static_cast<size_t>(in.end - q) <= kHead.size()) return nullptr;
    if (std::memcmp(q, kHead.data(), kHead.size()) != 0) return nullptr;
    const char* digits = q + kHead.size();
    const char* to = digits;
    while (to < in.end && *to >= '0' && *to <= '9') ++to;
    return to > digits && to < in.end && *to == '>' ? to + 1 : nullptr;
  });
}

// (IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z
void split_image_tokens(const SplitInput& in, std::vector<uint32_t>& ends) {
  constexpr std::string_view kHead = "IMGIMG";
  cut(in, ends, [&](const char* q, Classed c) -> const char* {
    if (c.code != 'I' || static_cast<size_t>(in.end - q) <= kHead.size()) return nullptr;
    if (std::memcmp(q, kHead.data(), kHead.size()) != 0) return nullptr;
    const char* to = q + kHead.size();
    const char* const letters = to;
    while (to < in.end && to - letters < 4 && *to >= 'A' && *to <= 'I') ++to;
    return to > letters && to < in.end && *to == 'Z' ? to + 1 : nullptr;
  });
}

// ([\t\n]|    |  )
void split_chameleon_space(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut(in, ends, [&](const char* q, Classed c) -> const char* {
    if (c.code == '\t' || c.code == '\n') return q + 1;
    size_t n = 0;
    while (n < 4 && q + n < in.end && q[n] == ' ') ++n;
    return n == 4 ? q + 4 : n >= 2 ? q + 2 : nullptr;
  });
}

// [\p{P}!-/:-@\[-`{-~]
void split_each_punctuation(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_each(in, ends, [](const Classed& c) {
    return (c.cls & kPunct) || (c.code < 127 && c.code > 32 && !(c.cls & (kLetter | kNumber)));
  });
}

// \S+
void split_non_space(const SplitInput& in, std::vector<uint32_t>& ends) {
  cut_runs(in, ends, [](const Classed& c) { return !(c.cls & kSpace); });
}

}  // namespace ridge::text
