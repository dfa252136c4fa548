// Owns where tags begin and end and what white space they take along. Read off Jinja2's lexer as behaviour: its regular
// expressions become one walk over the text here.
#include "text/jinja/lexer.h"

#include <array>
#include <cctype>
#include <charconv>

#include "text/jinja/failure.h"
#include "text/jinja/objects.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

struct Operator {
  std::string_view text;
  Tok type;
};

// Longest first.
constexpr std::array kOperators = {
    Operator{"//", Tok::floordiv}, Operator{"**", Tok::pow},      Operator{"==", Tok::eq},
    Operator{"!=", Tok::ne},       Operator{">=", Tok::gteq},     Operator{"<=", Tok::lteq},
    Operator{"+", Tok::add},       Operator{"-", Tok::sub},       Operator{"/", Tok::div},
    Operator{"*", Tok::mul},       Operator{"%", Tok::mod},       Operator{"~", Tok::tilde},
    Operator{"[", Tok::lbracket},  Operator{"]", Tok::rbracket},  Operator{"(", Tok::lparen},
    Operator{")", Tok::rparen},    Operator{"{", Tok::lbrace},    Operator{"}", Tok::rbrace},
    Operator{">", Tok::gt},        Operator{"<", Tok::lt},        Operator{"=", Tok::assign},
    Operator{".", Tok::dot},       Operator{":", Tok::colon},     Operator{"|", Tok::pipe},
    Operator{",", Tok::comma},     Operator{";", Tok::semicolon},
};

constexpr size_t kMaxBrackets = 200;  // open at once in one tag

std::string normalise_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();  // keep_trailing_newline is off
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalise_newlines(source)), s_(source_) {}

  std::vector<Token> run() {
    try {
      while (at_ < s_.size()) text();
    } catch (const Failure& failure) {
      Token& token = add(Tok::unreadable);
      token.text = failure.message;
      token.line = failure.line;
    }
    add(Tok::end);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail_at(int line, const std::string& message) const {
    throw Failure{"TemplateSyntaxError", message, line, ErrorCode::template_error};
  }
  [[noreturn]] void fail(const std::string& message) const { fail_at(line_, message); }

  bool looking_at(std::string_view text, size_t at) const { return s_.substr(at, text.size()) == text; }
  bool looking_at(std::string_view text) const { return looking_at(text, at_); }

  Token& add(Tok type) {
    Token token;
    token.type = type;
    token.line = line_;
    return tokens_.emplace_back(std::move(token));
  }

  void advance(size_t to) {
    for (; at_ < to; ++at_) line_ += s_[at_] == '\n';
  }

  size_t skip_space(size_t at) const {
    while (at < s_.size()) {
      const Utf8Char c = utf8_read(s_, at);
      if (!is_space(c.code)) break;
      at += c.n_bytes;
    }
    return at;
  }

  // Template text up to the next tag, and that tag.
  void text() {
    size_t tag = at_;
    while ((tag = s_.find('{', tag)) != std::string_view::npos) {
      const char next = tag + 1 < s_.size() ? s_[tag + 1] : '\0';
      if (next == '%' || next == '{' || next == '#') break;
      ++tag;
    }
    if (tag == std::string_view::npos) {
      data(at_, s_.size(), s_.size());
      return;
    }
    const char sign = tag + 2 < s_.size() && (s_[tag + 2] == '-' || s_[tag + 2] == '+') ? s_[tag + 2] : '\0';
    const char kind = s_[tag + 1];
    data(at_, strip_before(at_, tag, sign, kind == '{'), tag);
    const size_t inside = tag + 2 + (sign != '\0');
    if (kind == '#') return comment(inside);
    if (kind == '%') {
      if (const size_t body = raw_begin(inside); body != 0) return raw(body);
    }
    add(kind == '%' ? Tok::block_begin : Tok::variable_begin);
    at_ = inside;
    expression(kind == '%');
  }

  // Emits [from, to) and moves to next.
  void data(size_t from, size_t to, size_t next) {
    if (to > from) add(Tok::data).text = s_.substr(from, to - from);
    advance(next);
  }

  // Where the text before a tag ends: '-' strips all white space, lstrip_blocks the blanks of a line that only the tag
  // stands on.
  size_t strip_before(size_t from, size_t tag, char sign, bool is_variable) const {
    if (sign == '-') {
      size_t end = tag;
      while (end > from) {
        size_t begin = end - 1;
        while (begin > from && (static_cast<uint8_t>(s_[begin]) & 0xC0) == 0x80) --begin;
        if (!is_space(utf8_read(s_, begin).code)) break;
        end = begin;
      }
      return end;
    }
    if (sign == '+' || is_variable) return tag;
    const size_t newline = s_.substr(from, tag - from).rfind('\n');
    const bool in_text = newline != std::string_view::npos;
    const size_t line = in_text ? from + newline + 1 : from;
    if (!in_text && !line_starting_) return tag;
    return line < tag && skip_space_until(line, tag) ? line : tag;
  }

  bool skip_space_until(size_t from, size_t to) const {
    while (from < to) {
      const Utf8Char c = utf8_read(s_, from);
      if (!is_space(c.code)) return false;
      from += c.n_bytes;
    }
    return true;
  }

  void end_tag(size_t end) {
    advance(end);
    line_starting_ = end > 0 && s_[end - 1] == '\n';
  }

  void comment(size_t inside) {
    const size_t close = s_.find("#}", inside);
    if (close == std::string_view::npos) fail("Missing end of comment tag");
    const char before = close > inside ? s_[close - 1] : '\0';
    size_t end = close + 2;
    if (before == '-') {
      end = skip_space(end);
    } else if (before != '+' && end < s_.size() && s_[end] == '\n') {
      ++end;
    }
    end_tag(end);
  }

  // The offset behind "raw %}" if that stands here, else 0.
  size_t raw_begin(size_t inside) const {
    size_t at = skip_space(inside);
    if (!looking_at("raw", at)) return 0;
    at = skip_space(at + 3);
    if (looking_at("-%}", at)) return skip_space(at + 3);
    return looking_at("%}", at) ? at + 2 : 0;
  }

  void raw(size_t body) {
    const int begin_line = line_;
    end_tag(body);
    size_t tag = body;
    while ((tag = s_.find("{%", tag)) != std::string_view::npos) {
      const char sign = tag + 2 < s_.size() && (s_[tag + 2] == '-' || s_[tag + 2] == '+') ? s_[tag + 2] : '\0';
      size_t at = skip_space(tag + 2 + (sign != '\0'));
      if (looking_at("endraw", at)) {
        at = skip_space(at + 6);
        if (const size_t end = block_end(at); end != 0) {
          data(body, strip_before(body, tag, sign, false), tag);
          end_tag(end);
          return;
        }
      }
      tag += 2;
    }
    fail_at(begin_line, "Missing end of raw directive");
  }

  // The offset behind a block's end that stands at `at`, with the white space it takes along, else 0.
  size_t block_end(size_t at) const {
    if (looking_at("-%}", at)) return skip_space(at + 3);
    if (looking_at("+%}", at)) return at + 3;
    if (!looking_at("%}", at)) return 0;
    return at + 2 + (at + 2 < s_.size() && s_[at + 2] == '\n');
  }

  size_t variable_end(size_t at) const {
    if (looking_at("-}}", at)) return skip_space(at + 3);
    return looking_at("}}", at) ? at + 2 : 0;
  }

  void expression(bool is_block) {
    brackets_.clear();
    while (at_ < s_.size()) {
      if (brackets_.empty()) {
        const size_t end = is_block ? block_end(at_) : variable_end(at_);
        if (end != 0) {
          add(is_block ? Tok::block_end : Tok::variable_end);
          end_tag(end);
          return;
        }
      }
      const size_t space = skip_space(at_);
      if (space != at_) {
        advance(space);
        continue;
      }
      token();
    }
  }

  void token() {
    const char c = s_[at_];
    if (c >= '0' && c <= '9') return number();
    if (c == '\'' || c == '"') {
      if (string()) return;
    }
    const Utf8Char first = utf8_read(s_, at_);
    if (is_identifier_start(first.code)) return name();
    for (const Operator& op : kOperators) {
      if (!looking_at(op.text)) continue;
      balance(op.type, c);
      add(op.type);
      at_ += op.text.size();
      return;
    }
    fail(fmt::format("unexpected char {} at {}", repr_of_string(s_.substr(at_, first.n_bytes)),
                     count_chars(s_.substr(0, at_))));
  }

  void balance(Tok type, char c) {
    if (type == Tok::lbrace || type == Tok::lparen || type == Tok::lbracket) {
      if (brackets_.size() >= kMaxBrackets) fail(fmt::format("more than {} open brackets", kMaxBrackets));
      brackets_ += c == '{' ? '}' : c == '(' ? ')' : ']';
    } else if (type == Tok::rbrace || type == Tok::rparen || type == Tok::rbracket) {
      if (brackets_.empty()) fail(fmt::format("unexpected '{}'", c));
      const char expected = brackets_.back();
      brackets_.pop_back();
      if (expected != c) fail(fmt::format("unexpected '{}', expected '{}'", c, expected));
    }
  }

  void name() {
    size_t end = at_;
    while (end < s_.size()) {
      const Utf8Char c = utf8_read(s_, end);
      if (!is_identifier_part(c.code)) break;
      end += c.n_bytes;
    }
    add(Tok::name).text = s_.substr(at_, end - at_);
    at_ = end;
  }

  // Digits with single underscores between them; the offset behind them.
  template <class IsDigit>
  size_t digits(size_t at, IsDigit&& is_a_digit) const {
    const auto digit_at = [&](size_t i) { return i < s_.size() && is_a_digit(s_[i]); };
    while (digit_at(at) || (at < s_.size() && s_[at] == '_' && digit_at(at + 1))) ++at;
    return at;
  }

  static bool is_ten(char c) { return c >= '0' && c <= '9'; }

  // The end of a float that begins here, else 0.
  size_t real_end() const {
    if (at_ > 0 && s_[at_ - 1] == '.') return 0;
    const size_t whole = digits(at_, is_ten);
    size_t end = whole;
    bool found = false;
    if (end + 1 < s_.size() && s_[end] == '.' && is_ten(s_[end + 1])) {
      end = digits(end + 1, is_ten);
      found = true;
    }
    if (end < s_.size() && (s_[end] == 'e' || s_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < s_.size() && (s_[exponent] == '+' || s_[exponent] == '-')) ++exponent;
      if (exponent < s_.size() && is_ten(s_[exponent])) return digits(exponent, is_ten);
    }
    return found ? end : 0;
  }

  std::string without_underscores(size_t from, size_t to) const {
    std::string out;
    for (size_t i = from; i < to; ++i) {
      if (s_[i] != '_') out += s_[i];
    }
    return out;
  }

  void number() {
    if (const size_t end = real_end(); end != 0) {
      const std::string text = without_underscores(at_, end);
      double d = 0;
      const auto r = std::from_chars(text.data(), text.data() + text.size(), d);
      if (r.ec == std::errc::result_out_of_range) d = std::strtod(text.c_str(), nullptr);
      add(Tok::real).real = d;
      at_ = end;
      return;
    }
    int base = 10;
    size_t begin = at_, end;
    const char mark = at_ + 1 < s_.size() ? static_cast<char>(s_[at_ + 1] | 0x20) : '\0';
    if (s_[at_] == '0' && (mark == 'x' || mark == 'o' || mark == 'b')) {
      const int wanted = mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
      const size_t found = digits(at_ + 2, [&](char c) {
        return wanted == 16 ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c >= '0' && c < '0' + wanted;
      });
      if (found > at_ + 2) base = wanted, begin = at_ + 2, end = found;
    }
    if (base == 10) {
      end = s_[at_] == '0' ? digits(at_, [](char c) { return c == '0'; }) : digits(at_, is_ten);
    }
    const std::string text = without_underscores(begin, end);
    int64_t value = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (r.ec != std::errc()) fail(fmt::format("the integer {} does not fit into 64 bits", text.substr(0, 40)));
    add(Tok::integer).integer = value;
    at_ = end;
  }

  // false: the quote has no partner.
  bool string() {
    const char quote = s_[at_];
    size_t end = at_ + 1;
    while (end < s_.size() && s_[end] != quote) end += s_[end] == '\\' ? 2 : 1;
    if (end >= s_.size()) return false;
    const size_t begin = at_ + 1;
    const std::string text = unescape(s_.substr(begin, end - begin));
    add(Tok::string).text = text;
    advance(end + 1);
    return true;
  }

  std::string unescape(std::string_view raw) const {
    std::string out;
    for (size_t i = 0; i < raw.size();) {
      if (raw[i] != '\\' || i + 1 >= raw.size()) {
        out += raw[i++];
        continue;
      }
      const char c = raw[i + 1];
      i += 2;
      static constexpr std::string_view kFrom = "ntrabfv\\'\"", kTo = "\n\t\r\a\b\f\v\\'\"";
      if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
        out += kTo[at];
      } else if (c == '\n') {
        continue;  // a line continuation
      } else if (c == 'x' || c == 'u' || c == 'U') {
        i = unescape_hex(raw, i, c, out);
      } else if (c >= '0' && c <= '7') {
        char32_t code = 0;
        const size_t stop = std::min(raw.size(), i + 2);
        for (--i; i < stop && raw[i] >= '0' && raw[i] <= '7'; ++i) code = code * 8 + (raw[i] - '0');
        utf8_append(out, code);
      } else if (c == 'N') {
        fail("\\N{...} names of characters are not supported");
      } else {
        out += '\\';
        out += c;
      }
    }
    return out;
  }

  size_t unescape_hex(std::string_view raw, size_t at, char kind, std::string& out) const {
    const size_t n = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    uint32_t code = 0;
    const auto r = std::from_chars(raw.data() + at, raw.data() + std::min(raw.size(), at + n), code, 16);
    if (r.ec != std::errc() || r.ptr != raw.data() + at + n) {
      fail(fmt::format("truncated \\{} escape", kind == 'x' ? "xXX" : kind == 'u' ? "uXXXX" : "UXXXXXXXX"));
    }
    if (code > 0x10FFFF) fail("illegal Unicode character");
    if (code >= 0xD800 && code < 0xE000) fail("a \\u escape names half of a surrogate pair");
    utf8_append(out, code);
    return at + n;
  }

  const std::string source_;
  const std::string_view s_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // the last tag took a newline along (or none stood yet)
  std::string brackets_;       // the closing brackets that are due
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  if (source.size() > kMaxTemplateBytes) {
    raise_limit("a template of {} bytes; at most {} are read", source.size(), kMaxTemplateBytes);
  }
  if (!utf8_is_valid(source)) raise("TemplateSyntaxError", "the template is not valid UTF-8");
  return Lexer(source).run();
}

std::string describe(Tok type) {
  switch (type) {
    case Tok::data:
      return "template data / text";
    case Tok::variable_begin:
      return "begin of print statement";
    case Tok::variable_end:
      return "end of print statement";
    case Tok::block_begin:
      return "begin of statement block";
    case Tok::block_end:
      return "end of statement block";
    case Tok::name:
      return "name";
    case Tok::string:
      return "string";
    case Tok::integer:
      return "integer";
    case Tok::real:
      return "float";
    case Tok::end:
      return "end of template";
    default:
      break;
  }
  for (const Operator& op : kOperators) {
    if (op.type == type) return std::string(op.text);
  }
  return "token";
}

std::string describe(const Token& token) {
  return token.type == Tok::name ? token.text : describe(token.type);
}

}  // namespace ridge::jinja
