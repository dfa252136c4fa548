#include "text/grammar/json_texts.h"

#include <algorithm>
#include <map>

#include "base/utf8.h"

namespace ridge::grammar {
namespace {

// Within one string: no control characters, no quote, no backslash. U+007F is left out too: nobody means it.
const CharSet kPlain = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0x7E}, {0x80, kMaxChar}};

std::string decimal(WideInt n) {
  std::string s;
  do {
    s.insert(s.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
    n /= 10;
  } while (n > 0);
  return s;
}

}  // namespace

ExprId JsonTexts::shared(std::optional<RuleId>& rule, const char* name, ExprId (JsonTexts::*make)()) {
  if (!rule) {
    rule = g_.anonymous(name, kNoExpr);
    g_.define(*rule, (this->*make)());
  }
  return g_.rule(*rule);
}

ExprId JsonTexts::space() {
  return shared(space_, "space", &JsonTexts::make_space);
}
ExprId JsonTexts::any_value() {
  return shared(value_, "value", &JsonTexts::make_value);
}
ExprId JsonTexts::any_object() {
  return shared(object_, "object", &JsonTexts::make_object);
}
ExprId JsonTexts::any_array() {
  return shared(array_, "array", &JsonTexts::make_array);
}
ExprId JsonTexts::one_char() {
  return shared(char_, "character", &JsonTexts::make_char);
}

ExprId JsonTexts::make_space() {
  return g_.optional(
      g_.alt({g_.text(" "), g_.seq({g_.text("\n"), g_.repeat(g_.chars({{'\t', '\t'}, {' ', ' '}}), 0, 20)})}));
}

ExprId JsonTexts::make_value() {
  return g_.alt(
      {any_object(), any_array(), any_string(), number(), g_.text("true"), g_.text("false"), g_.text("null")});
}

ExprId JsonTexts::comma() {
  return g_.seq({g_.text(","), space()});
}

ExprId JsonTexts::list(ExprId open, ExprId inside, ExprId close) {
  return g_.seq({open, space(), inside, space(), close});
}

ExprId JsonTexts::make_object() {
  const ExprId pair = g_.seq({any_string(), g_.text(":"), space(), any_value()});
  const ExprId pairs = g_.seq({pair, g_.star(g_.seq({comma(), pair}))});
  return g_.alt({g_.text("{}"), list(g_.text("{"), pairs, g_.text("}"))});
}

ExprId JsonTexts::make_array() {
  const ExprId values = g_.seq({any_value(), g_.star(g_.seq({comma(), any_value()}))});
  return g_.alt({g_.text("[]"), list(g_.text("["), values, g_.text("]"))});
}

// One character in any of its spellings; surrogates only in pairs.
ExprId JsonTexts::make_char() {
  const auto hex = [this] { return g_.chars({{'0', '9'}, {'A', 'F'}, {'a', 'f'}}); };
  const ExprId low =
      g_.seq({g_.text("\\u"), g_.chars({{'d', 'd'}, {'D', 'D'}}), g_.chars({{'c', 'f'}, {'C', 'F'}}), hex(), hex()});
  const ExprId unit = g_.alt({
      g_.seq({g_.chars({{'0', '9'}, {'a', 'c'}, {'A', 'C'}, {'e', 'f'}, {'E', 'F'}}), hex(), hex(), hex()}),
      g_.seq({g_.chars({{'d', 'd'}, {'D', 'D'}}), g_.chars({{'0', '7'}}), hex(), hex()}),
      g_.seq({g_.chars({{'d', 'd'}, {'D', 'D'}}), g_.chars({{'8', '9'}, {'a', 'b'}, {'A', 'B'}}), hex(), hex(), low}),
  });
  CharSet letters;
  for (const char c : std::string_view("\"\\/bfnrt"))
    letters.push_back({static_cast<char32_t>(c), static_cast<char32_t>(c)});
  return g_.alt({g_.chars(kPlain), g_.seq({g_.text("\\"), g_.alt({g_.chars(letters), g_.seq({g_.text("u"), unit})})})});
}

ExprId JsonTexts::make_string() {
  return g_.seq({g_.text("\""), g_.star(one_char()), g_.text("\"")});
}

ExprId JsonTexts::string(uint32_t min_chars, uint32_t max_chars) {
  if (min_chars == 0 && max_chars == kNoMax) return shared(string_, "string", &JsonTexts::make_string);
  return g_.seq({g_.text("\""), g_.repeat(one_char(), min_chars, max_chars), g_.text("\"")});
}

// The characters of a set, each in the one spelling that it must have: itself, or an escape.
ExprId JsonTexts::escaped(const CharSet& set) {
  static constexpr std::pair<char32_t, const char*> kShort[] = {
      {'"', "\\\""}, {'\\', "\\\\"}, {'\b', "\\b"}, {'\f', "\\f"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}};
  std::vector<ExprId> parts{g_.chars(intersection(set, kPlain))};
  const auto has = [&set](char32_t c) { return !intersection(set, {{c, c}}).empty(); };
  for (const auto& [c, spelling] : kShort) {
    if (has(c)) parts.push_back(g_.text(spelling));
  }
  for (char32_t c = 0; c < 0x20; ++c) {
    const bool is_short =
        std::any_of(std::begin(kShort), std::end(kShort), [c](const auto& s) { return s.first == c; });
    if (has(c) && !is_short) parts.push_back(g_.text(fmt::format("\\u{:04x}", static_cast<uint32_t>(c))));
  }
  return g_.alt(parts);
}

ExprId JsonTexts::encode(ExprId content) {
  const Expr e = g_.at(content);
  if (e.kind == ExprKind::chars) return escaped(CharSet(g_.set(e)));
  if (e.kind == ExprKind::text || e.kind == ExprKind::rule) return content;  // only the empty text comes from a pattern
  std::vector<ExprId> parts;
  for (size_t i = 0; i < e.n; ++i) parts.push_back(encode(g_.child(g_.at(content), i)));
  if (e.kind == ExprKind::repeat) return g_.repeat(parts[0], e.min, e.max);
  return e.kind == ExprKind::seq ? g_.seq(parts) : g_.alt(parts);
}

ExprId JsonTexts::string_of(ExprId content) {
  return g_.seq({g_.text("\""), encode(content), g_.text("\"")});
}

// What follows after `depth` characters, `words` being those excluded that begin so: end here unless one of them does;
// any other character and then anything; or one of theirs and so on.
ExprId JsonTexts::not_in(std::vector<std::u32string> words, size_t depth) {
  std::map<char32_t, std::vector<std::u32string>> by_next;
  bool is_word = false;
  for (std::u32string& w : words) {
    if (w.size() == depth) {
      is_word = true;
    } else {
      by_next[w[depth]].push_back(std::move(w));
    }
  }
  CharSet theirs;
  std::vector<ExprId> parts;
  for (auto& [c, rest] : by_next) {
    theirs.push_back({c, c});
    parts.push_back(g_.seq({escaped({{c, c}}), not_in(std::move(rest), depth + 1)}));
  }
  const ExprId other = escaped(complement(normalised(theirs)));
  parts.push_back(g_.seq({other, g_.star(escaped({{0, kMaxChar}}))}));
  if (!is_word) parts.push_back(g_.empty());
  return g_.alt(parts);
}

ExprId JsonTexts::string_but(const std::vector<std::string>& excluded) {
  std::vector<std::u32string> words;
  for (const std::string& text : excluded) {
    words.emplace_back();
    for (size_t i = 0; i < text.size();) {
      const Utf8Char c = utf8_read(text, i);
      words.back().push_back(c.code);
      i += c.n_bytes;
    }
  }
  return g_.seq({g_.text("\""), not_in(std::move(words), 0), g_.text("\"")});
}

// Digits are bounded, so that every text is a number that a double holds.
ExprId JsonTexts::number() {
  return shared(number_, "number", &JsonTexts::make_number);
}

ExprId JsonTexts::make_number() {
  const CharSet digits = {{'0', '9'}};
  const ExprId whole = g_.alt({g_.text("0"), g_.seq({g_.chars({{'1', '9'}}), g_.repeat(g_.chars(digits), 0, 15)})});
  const ExprId fraction = g_.seq({g_.text("."), g_.repeat(g_.chars(digits), 1, 16)});
  const ExprId exponent = g_.seq({g_.chars({{'e', 'e'}, {'E', 'E'}}), g_.optional(g_.chars({{'+', '+'}, {'-', '-'}})),
                                  g_.repeat(g_.chars(digits), 1, 2)});
  return g_.seq({g_.optional(g_.text("-")), whole, g_.optional(fraction), g_.optional(exponent)});
}

// Of one length.
ExprId JsonTexts::digits_between(std::string_view lo, std::string_view hi) {
  const size_t n = lo.size();
  const auto digit = [this](int a, int b) { return g_.chars({{static_cast<char32_t>(a), static_cast<char32_t>(b)}}); };
  if (lo.find_first_not_of('0') == lo.npos && hi.find_first_not_of('9') == hi.npos)
    return g_.repeat(digit('0', '9'), static_cast<uint32_t>(n), static_cast<uint32_t>(n));
  if (lo[0] == hi[0]) return g_.seq({digit(lo[0], lo[0]), digits_between(lo.substr(1), hi.substr(1))});
  const std::string zeros(n - 1, '0'), nines(n - 1, '9');
  std::vector<ExprId> parts{g_.seq({digit(lo[0], lo[0]), digits_between(lo.substr(1), nines)})};
  if (lo[0] + 1 < hi[0]) parts.push_back(g_.seq({digit(lo[0] + 1, hi[0] - 1), digits_between(zeros, nines)}));
  parts.push_back(g_.seq({digit(hi[0], hi[0]), digits_between(zeros, hi.substr(1))}));
  return g_.alt(parts);
}

// 0 <= min <= max.
ExprId JsonTexts::natural(WideInt min, std::optional<WideInt> max) {
  const std::string lo = decimal(min), hi = max ? decimal(*max) : std::string();
  const size_t last = max ? hi.size() : lo.size();
  std::vector<ExprId> parts;
  for (size_t n = lo.size(); n <= last; ++n) {
    const std::string from = n == lo.size() ? lo : "1" + std::string(n - 1, '0');
    const std::string to = max && n == last ? hi : std::string(n, '9');
    parts.push_back(digits_between(from, to));
  }
  // 20 more digits are as good as any.
  if (!max) {
    const auto n = static_cast<uint32_t>(lo.size());
    parts.push_back(g_.seq({g_.chars({{'1', '9'}}), g_.repeat(g_.chars({{'0', '9'}}), n, n + 20)}));
  }
  return g_.alt(parts);
}

ExprId JsonTexts::make_integer() {
  return bounded_integer({}, {});
}

ExprId JsonTexts::integer(std::optional<WideInt> min, std::optional<WideInt> max) {
  return min || max ? bounded_integer(min, max) : shared(integer_, "integer", &JsonTexts::make_integer);
}

ExprId JsonTexts::bounded_integer(std::optional<WideInt> min, std::optional<WideInt> max) {
  std::vector<ExprId> parts;
  if (!max || *max >= 0) parts.push_back(natural(std::max<WideInt>(min.value_or(0), 0), max));
  if (!min || *min < 0) {
    const WideInt least = max && *max < 0 ? -*max : 1;
    std::optional<WideInt> most;
    if (min) most = -*min;
    parts.push_back(g_.seq({g_.text("-"), natural(least, most)}));
  }
  return g_.alt(parts);
}

// Whole parts within the bounds, any fraction behind those that stay inside with it. -0.5 has no whole part of its own:
// it is written as a fraction behind "-0".
ExprId JsonTexts::number(std::optional<Bound> min, std::optional<Bound> max) {
  const CharSet digits = {{'0', '9'}};
  const auto fraction = [&] { return g_.seq({g_.text("."), g_.repeat(g_.chars(digits), 1, 16)}); };
  const auto not_zero = [&] {
    return g_.seq({g_.text("."), g_.repeat(g_.chars({{'0', '0'}}), 0, 8), g_.chars({{'1', '9'}}),
                   g_.repeat(g_.chars(digits), 0, 8)});
  };
  const auto side = [&](std::optional<Bound> lo, std::optional<Bound> hi, std::vector<ExprId>& out, const char* sign) {
    // lo >= 0 here: magnitudes of one sign.
    const WideInt from = lo ? lo->value : 0;
    if (hi && hi->value < from) return;
    const WideInt first = from + (lo && lo->open ? 1 : 0);
    std::optional<WideInt> last_whole, last_fraction;
    if (hi) last_whole = hi->value - (hi->open ? 1 : 0), last_fraction = hi->value - 1;
    if (!last_whole || *last_whole >= first) out.push_back(g_.seq({g_.text(sign), natural(first, last_whole)}));
    if (!last_fraction || *last_fraction >= first)
      out.push_back(g_.seq({g_.text(sign), natural(first, last_fraction), fraction()}));
    if (lo && lo->open && (!last_fraction || *last_fraction >= from))
      out.push_back(g_.seq({g_.text(sign), natural(from, from), not_zero()}));
  };
  std::vector<ExprId> parts;
  if (!max || max->value >= 0) {
    const std::optional<Bound> lo = min && min->value >= 0 ? min : std::nullopt;
    side(lo, max, parts, "");
  }
  if (!min || min->value < 0) {
    const std::optional<Bound> lo = max && max->value <= 0 ? Bound{-max->value, max->open} : Bound{0, true};
    std::optional<Bound> hi;
    if (min) hi = Bound{-min->value, min->open};
    side(lo, hi, parts, "-");
  }
  return g_.alt(parts);
}

}  // namespace ridge::grammar
