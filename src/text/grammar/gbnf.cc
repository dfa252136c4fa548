#include "text/grammar/gbnf.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/grammar/limits.h"

namespace ridge::grammar {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

class Parser {
 public:
  explicit Parser(std::string_view source) : s_(source) {}

  Result<Grammar> run() {
    space(true);
    while (!at_end()) {
      RIDGE_CHECK_OK(rule());
      space(true);
    }
    if (g_.n_rules() == 0)
      return fail(ErrorCode::invalid_argument, "the grammar is empty: it needs a rule 'root ::= ...'");
    for (RuleId r = 0; r < g_.n_rules(); ++r) {
      if (!g_.is_defined(r))
        return error(first_use_[r], fmt::format("rule '{}' is used here and never defined", g_.name(r)));
    }
    const size_t n = g_.n_rules();
    g_.root = g_.named("root");
    if (g_.n_rules() != n) {
      return error(0, "there is no rule 'root' (in small letters), where matching begins");
    }
    return std::move(g_);
  }

 private:
  bool at_end() const { return at_ >= s_.size(); }
  char peek() const { return at_end() ? '\0' : s_[at_]; }
  bool take(std::string_view text) {
    if (s_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  tl::unexpected<Error> error(size_t at, std::string_view what) const {
    const std::string_view before = s_.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t column = at - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1) + 1;
    return fail(ErrorCode::invalid_argument, "grammar, line {}, column {}: {}", line, column, what);
  }
  std::string found() const {
    if (at_end()) return "the end";
    const Utf8Char c = utf8_read(s_, at_);
    if (peek() == '\n' || peek() == '\r') return "the end of the line";
    return c.valid ? fmt::format("'{}'", s_.substr(at_, c.n_bytes)) : "a byte that is no UTF-8";
  }

  void space(bool newlines) {
    while (!at_end()) {
      const char c = s_[at_];
      if (c == '#') {
        while (!at_end() && s_[at_] != '\n' && s_[at_] != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  Result<std::string_view> name() {
    const size_t start = at_;
    while (!at_end() && is_name_char(s_[at_])) ++at_;
    if (at_ == start)
      return error(at_, fmt::format("found {}, expected a rule's name (letters, digits and -)", found()));
    return s_.substr(start, at_ - start);
  }

  Result<RuleId> refer(std::string_view name, size_t at) {
    const RuleId id = g_.named(name);
    if (id == first_use_.size()) first_use_.push_back(at);
    if (g_.n_rules() > kMaxRules) return error(at, fmt::format("more than {} rules", kMaxRules));
    return id;
  }

  Result<void> rule() {
    const size_t start = at_;
    RIDGE_TRY(const std::string_view named, name());
    RIDGE_TRY(const RuleId id, refer(named, start));
    if (g_.is_defined(id)) return error(start, fmt::format("rule '{}' is defined twice", named));
    space(false);
    if (!take("::=")) return error(at_, fmt::format("found {}, expected '::=' after '{}'", found(), named));
    space(true);
    RIDGE_TRY(const ExprId body, alternatives());
    g_.define(id, body);
    if (at_end() || peek() == '\n' || peek() == '\r') return {};
    return error(at_, fmt::format("found {}, expected the end of the line", found()));
  }

  // What stands between '(' and ')', and at the top the whole body. Kept in a list: with a call for each group the
  // source would decide how deep the program's stack grows.
  struct Group {
    std::vector<ExprId> alternatives, parts;
  };

  Result<ExprId> alternatives() {
    std::vector<Group> open(1);
    for (;;) {
      Group& group = open.back();
      const char c = at_end() ? '\0' : peek();
      if (take("(")) {
        if (open.size() > kMaxNesting) return error(at_, fmt::format("groups nest more than {} deep", kMaxNesting));
        open.emplace_back();
        space(true);
      } else if (take("|")) {
        group.alternatives.push_back(g_.seq(group.parts));
        group.parts.clear();
        space(true);
      } else if (c == '*' || c == '+' || c == '?' || c == '{') {
        if (group.parts.empty()) return error(at_, fmt::format("found '{}' with nothing in front of it to repeat", c));
        RIDGE_TRY(group.parts.back(), repeated(group.parts.back()));
        space(open.size() > 1);
      } else if (c == '"' || c == '[' || c == '.' || is_name_char(c)) {
        RIDGE_TRY(const ExprId part, item());
        group.parts.push_back(part);
        space(open.size() > 1);
      } else if (c == '<' || (c == '!' && s_.substr(at_, 2) == "!<")) {
        return error(at_, "tokens (<...>) are not supported here: write the text itself in quotes");
      } else {
        group.alternatives.push_back(g_.seq(group.parts));
        const ExprId whole = g_.alt(group.alternatives);
        open.pop_back();
        if (open.empty()) return whole;
        if (!take(")")) return error(at_, fmt::format("found {}, expected ')' for the '(' before", found()));
        open.back().parts.push_back(whole);
        space(open.size() > 1);
      }
    }
  }

  Result<ExprId> item() {
    const size_t start = at_;
    if (take(".")) return g_.chars({{0, kMaxChar}});
    if (take("\"")) return literal(start);
    if (take("[")) return char_class(start);
    RIDGE_TRY(const std::string_view named, name());
    RIDGE_TRY(const RuleId id, refer(named, start));
    return g_.rule(id);
  }

  Result<ExprId> literal(size_t start) {
    std::string text;
    while (!take("\"")) {
      if (at_end() || peek() == '\n') return error(start, "a literal without its closing '\"'");
      RIDGE_TRY(const char32_t c, character());
      utf8_append(text, c);
    }
    return g_.text(text);
  }

  Result<ExprId> char_class(size_t start) {
    const bool negated = take("^");
    CharSet set;
    while (!take("]")) {
      if (at_end() || peek() == '\n') return error(start, "a class without its closing ']'");
      RIDGE_TRY(const char32_t lo, character());
      char32_t hi = lo;
      if (peek() == '-' && at_ + 1 < s_.size() && s_[at_ + 1] != ']') {
        ++at_;
        if (peek() == '\n') return error(start, "a class without its closing ']'");
        RIDGE_TRY(hi, character());
        if (hi < lo) return error(start, "a range whose end comes before its beginning");
      }
      set.push_back({lo, hi});
    }
    set = normalised(std::move(set));
    if (negated) set = complement(set);
    if (set.empty()) return error(start, "a class that no character is in");
    return g_.chars(std::move(set));
  }

  Result<char32_t> character() {
    const size_t start = at_;
    if (!take("\\")) {
      const Utf8Char c = utf8_read(s_, at_);
      if (!c.valid) return error(at_, "a byte that is no UTF-8");
      at_ += c.n_bytes;
      return c.code;
    }
    static constexpr std::string_view kPlain = "\"[]\\", kLetters = "nrt", kMeaning = "\n\r\t";
    const char c = peek();
    if (!at_end()) ++at_;
    if (kPlain.find(c) != kPlain.npos && c != '\0') return static_cast<char32_t>(c);
    if (const size_t i = kLetters.find(c); i != kLetters.npos) return static_cast<char32_t>(kMeaning[i]);
    const int n = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (n == 0)
      return error(start, "an unknown escape; known are \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH \\UHHHHHHHH");
    char32_t code = 0;
    for (int i = 0; i < n; ++i, ++at_) {
      const char d = peek();
      const int digit = d >= '0' && d <= '9'   ? d - '0'
                        : d >= 'a' && d <= 'f' ? d - 'a' + 10
                        : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                               : -1;
      if (digit < 0) return error(start, fmt::format("\\{} takes {} hexadecimal digits", c, n));
      code = code * 16 + static_cast<char32_t>(digit);
    }
    if (code > kMaxChar || (code >= 0xD800 && code <= 0xDFFF))
      return error(start, fmt::format("U+{:04X} is no character", static_cast<uint32_t>(code)));
    return code;
  }

  Result<ExprId> repeated(ExprId part) {
    if (take("*")) return g_.star(part);
    if (take("+")) return g_.repeat(part, 1, kNoMax);
    if (take("?")) return g_.optional(part);
    const size_t start = at_;
    take("{");
    space(true);
    RIDGE_TRY(const uint32_t min, number(start));
    uint32_t max = min;
    space(true);
    if (take(",")) {
      space(true);
      max = kNoMax;
      if (peek() != '}') {
        RIDGE_TRY(max, number(start));
        space(true);
      }
    }
    if (!take("}")) return error(at_, fmt::format("found {}, expected '}}' for the '{{' before", found()));
    if (max < min) return error(start, fmt::format("{{{},{}}}: the second number is below the first", min, max));
    return g_.repeat(part, min, max);
  }

  Result<uint32_t> number(size_t start) {
    if (peek() < '0' || peek() > '9')
      return error(at_, fmt::format("found {}, expected a number of repetitions", found()));
    uint64_t n = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      n = std::min<uint64_t>(n * 10 + static_cast<uint64_t>(peek() - '0'), kNoMax);
    if (n > kMaxRepeat) return error(start, fmt::format("more than {} repetitions", kMaxRepeat));
    return static_cast<uint32_t>(n);
  }

  std::string_view s_;
  size_t at_ = 0;
  Grammar g_;
  std::vector<size_t> first_use_;  // of rule i
};

}  // namespace

Result<Grammar> parse_gbnf(std::string_view source) {
  if (source.size() > kMaxSourceBytes)
    return fail(ErrorCode::limit, "the grammar has {} bytes, at most {}", source.size(), kMaxSourceBytes);
  return Parser(source).run();
}

Result<Grammar> choices(const std::vector<std::string>& texts) {
  if (texts.empty()) return fail(ErrorCode::invalid_argument, "the list of choices is empty");
  size_t n_bytes = 0;
  Grammar g;
  std::vector<ExprId> parts;
  for (const std::string& text : texts) {
    n_bytes += text.size() + 1;
    if (!utf8_is_valid(text)) return fail(ErrorCode::invalid_argument, "choice {} is not UTF-8", parts.size());
    parts.push_back(g.text(text));
  }
  if (n_bytes > kMaxSourceBytes)
    return fail(ErrorCode::limit, "the choices have {} bytes, at most {}", n_bytes, kMaxSourceBytes);
  g.root = g.anonymous("choices", g.alt(parts));
  return g;
}

}  // namespace ridge::grammar
