#include "text/grammar/regex.h"

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "text/grammar/limits.h"

namespace ridge::grammar {
namespace {

// Line ends in ECMA-262; Python's dot refuses only the first, so that what matches here matches there.
const CharSet kLineEnds = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
const CharSet kDigits = {{'0', '9'}};
const CharSet kWord = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharSet kAsciiSpace = {{'\t', '\r'}, {' ', ' '}};
// Everything that either standard calls space: what \S must not match.
const CharSet kAnySpace = {{'\t', '\r'},     {0x1C, ' '},      {0x85, 0x85},     {0xA0, 0xA0},
                           {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                           {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};

// The syntax tree; anchors are resolved on it.
struct Node {
  enum class Kind : uint8_t { set, seq, alt, repeat, begin, end } kind = Kind::seq;
  CharSet set = {};
  std::vector<Node> children = {};
  uint32_t min = 0, max = kNoMax;
  size_t at = 0;  // in the pattern
};

tl::unexpected<Error> error(size_t at, std::string_view what) {
  return fail(ErrorCode::invalid_argument, "regular expression, position {}: {}", at, what);
}

class Parser {
 public:
  explicit Parser(std::string_view s) : s_(s) {}

  Result<Node> run() {
    RIDGE_TRY(Node all, alternatives(0));
    if (at_ < s_.size()) return error(at_, "')' without its '('");
    return all;
  }

 private:
  bool at_end() const { return at_ >= s_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  bool take(std::string_view text) {
    if (s_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  Result<Node> alternatives(int depth) {
    if (depth > kMaxRegexNesting) return error(at_, fmt::format("groups nest more than {} deep", kMaxRegexNesting));
    Node out{.kind = Node::Kind::alt, .at = at_};
    do {
      RIDGE_TRY(Node part, sequence(depth));
      out.children.push_back(std::move(part));
    } while (take("|"));
    if (out.children.size() > 1) return out;
    Node only = std::move(out.children[0]);
    return only;
  }

  Result<Node> sequence(int depth) {
    Node out{.kind = Node::Kind::seq, .at = at_};
    while (!at_end() && peek() != '|' && peek() != ')') {
      RIDGE_TRY(Node part, atom(depth));
      RIDGE_TRY(part, repeated(std::move(part)));
      out.children.push_back(std::move(part));
    }
    return out;
  }

  Result<Node> atom(int depth) {
    const size_t start = at_;
    const char c = peek();
    if (take("^")) return Node{.kind = Node::Kind::begin, .at = start};
    if (take("$")) return Node{.kind = Node::Kind::end, .at = start};
    if (take(".")) return Node{.kind = Node::Kind::set, .set = complement(kLineEnds), .at = start};
    if (take("[")) return char_class(start);
    if (take("(")) return group(start, depth);
    if (c == '*' || c == '+' || c == '?')
      return error(start, fmt::format("'{}' with nothing in front of it to repeat", c));
    if (c == '{' && is_count()) return error(start, "a repetition with nothing in front of it to repeat");
    if (c == '\\') {
      RIDGE_TRY(CharSet set, escape(false));
      return Node{.kind = Node::Kind::set, .set = std::move(set), .at = start};
    }
    RIDGE_TRY(const char32_t code, character());
    return Node{.kind = Node::Kind::set, .set = {{code, code}}, .at = start};
  }

  Result<Node> group(size_t start, int depth) {
    if (take("?")) {
      if (take("=") || take("!") || take("<=") || take("<!")) return error(start, "look-around is not supported");
      take("P");
      if (take("<")) {
        const size_t close = s_.find('>', at_);
        if (close == s_.npos || close == at_) return error(start, "a group's name without its '>'");
        at_ = close + 1;
      } else if (!take(":")) {
        return error(start, "this kind of group is not supported; (?: ) and (?<name> ) are");
      }
    }
    RIDGE_TRY(Node inner, alternatives(depth + 1));
    if (!take(")")) return error(start, "'(' without its ')'");
    return inner;
  }

  // Whether {m}, {m,} or {m,n} stands here; other braces are letters.
  bool is_count() const {
    size_t i = at_ + 1;
    const size_t first = i;
    while (i < s_.size() && s_[i] >= '0' && s_[i] <= '9') ++i;
    if (i == first) return false;
    if (i < s_.size() && s_[i] == ',') ++i;
    while (i < s_.size() && s_[i] >= '0' && s_[i] <= '9') ++i;
    return i < s_.size() && s_[i] == '}';
  }

  uint64_t number() {
    uint64_t n = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      n = std::min<uint64_t>(n * 10 + static_cast<uint64_t>(peek() - '0'), kNoMax);
    return n;
  }

  Result<Node> repeated(Node part) {
    const size_t start = at_;
    uint64_t min = 0, max = kNoMax;
    if (take("*")) {
    } else if (take("+")) {
      min = 1;
    } else if (take("?")) {
      max = 1;
    } else if (peek() == '{' && is_count()) {
      ++at_;
      min = max = number();
      if (take(",")) max = peek() == '}' ? uint64_t{kNoMax} : number();
      ++at_;
      if (min > kMaxRepeat || (max != kNoMax && max > kMaxRepeat))
        return error(start, fmt::format("more than {} repetitions", kMaxRepeat));
      if (max < min) return error(start, fmt::format("{{{},{}}}: the second number is below the first", min, max));
    } else {
      return part;
    }
    if (part.kind == Node::Kind::begin || part.kind == Node::Kind::end)
      return error(start, "an anchor cannot be repeated");
    take("?");
    const char next = peek();
    if (next == '+') return error(at_, "possessive repetition is not supported");
    if (next == '*' || next == '?' || (next == '{' && is_count()))
      return error(at_, "a repetition of a repetition needs a group");
    Node out{
        .kind = Node::Kind::repeat, .min = static_cast<uint32_t>(min), .max = static_cast<uint32_t>(max), .at = start};
    out.children.push_back(std::move(part));
    return out;
  }

  Result<char32_t> character() {
    const Utf8Char c = utf8_read(s_, at_);
    if (!c.valid) return error(at_, "a byte that is no UTF-8");
    at_ += c.n_bytes;
    return c.code;
  }

  Result<char32_t> hex(size_t start, size_t n_min, size_t n_max) {
    char32_t code = 0;
    size_t n = 0;
    for (; n < n_max; ++n, ++at_) {
      const char d = peek();
      const int digit = d >= '0' && d <= '9'   ? d - '0'
                        : d >= 'a' && d <= 'f' ? d - 'a' + 10
                        : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      code = code * 16 + static_cast<char32_t>(digit);
    }
    if (n < n_min) return error(start, "an escape with too few hexadecimal digits");
    if (code > kMaxChar || (code >= 0xD800 && code <= 0xDFFF)) return error(start, "an escape that is no character");
    return code;
  }

  Result<CharSet> escape(bool in_class) {
    const size_t start = at_++;
    if (at_end()) return error(start, "'\\' at the end");
    const char c = s_[at_];
    const auto one = [](char32_t x) { return CharSet{{x, x}}; };
    if (static_cast<uint8_t>(c) >= 0x80 || (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
        c >= '{' || c == ' ') {
      RIDGE_TRY(const char32_t code, character());
      return one(code);
    }
    ++at_;
    switch (c) {
      case 'd':
        return kDigits;
      case 'D':
        return complement(kDigits);
      case 'w':
        return kWord;
      case 'W':
        return complement(kWord);
      case 's':
        return kAsciiSpace;
      case 'S':
        return complement(kAnySpace);
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 'b':
        if (in_class) return one('\b');
        return error(start, "\\b (a word's border) is not supported");
      case '0':
        if (peek() < '0' || peek() > '9') return one(0);
        return error(start, "octal escapes are not supported");
      case 'x': {
        RIDGE_TRY(const char32_t code, hex(start, 2, 2));
        return one(code);
      }
      case 'u':
        return unicode(start);
      default:
        break;
    }
    if (c >= '1' && c <= '9') return error(start, "back-references are not supported");
    return error(start, fmt::format("'\\{}' is not supported", c));
  }

  Result<CharSet> unicode(size_t start) {
    const bool braces = take("{");
    RIDGE_TRY(const char32_t code, hex(start, braces ? 1 : 4, braces ? 6 : 4));
    if (braces && !take("}")) return error(start, "'\\u{' without its '}'");
    return CharSet{{code, code}};
  }

  Result<CharSet> class_part() {
    if (peek() == '\\') return escape(true);
    RIDGE_TRY(const char32_t code, character());
    return CharSet{{code, code}};
  }

  Result<Node> char_class(size_t start) {
    const bool negated = take("^");
    CharSet set;
    while (!take("]")) {
      if (at_end()) return error(start, "'[' without its ']'");
      if (peek() == '[' && (peek(1) == ':' || peek(1) == '=' || peek(1) == '.'))
        return error(at_, "POSIX classes are not supported");
      RIDGE_TRY(CharSet part, class_part());
      if (peek() == '-' && peek(1) != ']' && at_ + 1 < s_.size()) {
        const size_t dash = at_++;
        RIDGE_TRY(const CharSet last, class_part());
        const auto is_one = [](const CharSet& x) { return x.size() == 1 && x[0].lo == x[0].hi; };
        if (!is_one(part) || !is_one(last)) return error(dash, "a range between classes; write the '-' first or last");
        if (last[0].hi < part[0].lo) return error(dash, "a range whose end comes before its beginning");
        part[0].hi = last[0].hi;
      }
      set.insert(set.end(), part.begin(), part.end());
    }
    set = normalised(std::move(set));
    if (negated) set = complement(set);
    if (set.empty()) return error(start, "a class that no character is in");
    return Node{.kind = Node::Kind::set, .set = std::move(set), .at = start};
  }

  std::string_view s_;
  size_t at_ = 0;
};

// Anchors and the free text around a search, worked into the tree from its two ends.
class Lowering {
 public:
  Lowering(Grammar& g, Anchoring anchoring) : g_(g), search_(anchoring == Anchoring::search) {}

  // first, last: nothing stands before or behind this node.
  Result<ExprId> lower(const Node& n, bool first, bool last) {
    switch (n.kind) {
      case Node::Kind::begin:
        if (!first) return error(n.at, "'^' behind other text can match nothing");
        return last ? around(g_.empty(), false, true) : g_.empty();
      case Node::Kind::end:
        if (!last) return error(n.at, "'$' before other text can match nothing");
        return first ? around(g_.empty(), true, false) : g_.empty();
      case Node::Kind::set:
        return around(g_.chars(n.set), first, last);
      case Node::Kind::repeat: {
        RIDGE_TRY(const ExprId part, lower(n.children[0], false, false));
        return around(g_.repeat(part, n.min, n.max), first, last);
      }
      case Node::Kind::alt: {
        std::vector<ExprId> parts;
        for (const Node& child : n.children) {
          RIDGE_TRY(const ExprId part, lower(child, first, last));
          parts.push_back(part);
        }
        return g_.alt(parts);
      }
      case Node::Kind::seq:
        return sequence(n, first, last);
    }
    return g_.empty();
  }

 private:
  Result<ExprId> around(ExprId inner, bool before, bool behind) {
    if (!search_ || (!before && !behind)) return inner;
    const ExprId any = g_.star(g_.chars({{0, kMaxChar}}));
    std::vector<ExprId> parts;
    if (before) parts.push_back(any);
    parts.push_back(inner);
    if (behind) parts.push_back(any);
    return g_.seq(parts);
  }

  Result<ExprId> sequence(const Node& n, bool first, bool last) {
    size_t from = 0, to = n.children.size();
    const bool anchored = first && to > 0 && n.children[0].kind == Node::Kind::begin;
    const bool ended = last && to > 0 && n.children[to - 1].kind == Node::Kind::end;
    while (first && from < to && n.children[from].kind == Node::Kind::begin) ++from;
    while (last && to > from && n.children[to - 1].kind == Node::Kind::end) --to;
    // An anchored end needs no free text there, but may hold a further anchor in a group.
    const bool open_front = first && !anchored, open_back = last && !ended;
    if (from == to) return around(g_.empty(), open_front, open_back);
    std::vector<ExprId> parts;
    for (size_t i = from; i < to; ++i) {
      RIDGE_TRY(const ExprId part, lower(n.children[i], i == from && open_front, i + 1 == to && open_back));
      parts.push_back(part);
    }
    return g_.seq(parts);
  }

  Grammar& g_;
  bool search_;
};

}  // namespace

Result<ExprId> regex_expr(Grammar& g, std::string_view pattern, Anchoring anchoring) {
  if (pattern.size() > kMaxRegexBytes)
    return fail(ErrorCode::limit, "the regular expression has {} bytes, at most {}", pattern.size(), kMaxRegexBytes);
  RIDGE_TRY(const Node tree, Parser(pattern).run());
  return Lowering(g, anchoring).lower(tree, true, true);
}

Result<Grammar> parse_regex(std::string_view pattern) {
  Grammar g;
  RIDGE_TRY(const ExprId body, regex_expr(g, pattern, Anchoring::whole));
  g.root = g.anonymous("regular expression", body);
  return g;
}

}  // namespace ridge::grammar
