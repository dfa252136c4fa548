// "..." % values and "...".format(...), as Python does them. Numbers are laid out in format_number.cc.
#include <algorithm>
#include <charconv>

#include "text/jinja/filters.h"
#include "text/jinja/format_number.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

void check_size(Interpreter& in, const MarkedText& out) {
  in.budget.charge(1);
  if (out.size() > in.budget.limits().output_bytes) in.budget.make_bytes(out.size());
}

class PercentFormatter {
 public:
  PercentFormatter(Interpreter& in, const Value& format, const Value& values)
      : in_(in), markup_(format.str().markup), text_(format.text()), s_(text_.view()), values_(values) {}

  Value run() {
    while (at_ < s_.size()) {
      const size_t percent = std::min(s_.find('%', at_), s_.size());
      out_.append(text_, at_, percent - at_);
      at_ = percent;
      if (at_ < s_.size()) directive();
      check_size(in_, out_);
    }
    const bool mapping = !values_.is(Kind::tuple) && !values_.is_string() &&
                         (values_.is(Kind::dict) || values_.is(Kind::list) || values_.is_undefined());
    if (!mapping && n_used_ < n_values()) raise("TypeError", "not all arguments converted during string formatting");
    in_.budget.make_bytes(out_.size());
    return Value::string(std::move(out_), markup_);
  }

 private:
  size_t n_values() const { return values_.is(Kind::tuple) ? values_.items().size() : 1; }

  Value next_value() {
    if (n_used_ >= n_values()) raise("TypeError", "not enough arguments for format string");
    const size_t i = n_used_++;
    return values_.is(Kind::tuple) ? values_.items()[i] : values_;
  }

  char peek() const {
    if (at_ >= s_.size()) raise("ValueError", "incomplete format");
    return s_[at_];
  }

  int64_t number(const char* what) {
    if (peek() == '*') {
      ++at_;
      const Value v = next_value();
      if (!v.is_whole()) raise("TypeError", "* wants int");
      return v.as_int();
    }
    int64_t n = 0;
    while (at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9') {
      n = n * 10 + (s_[at_++] - '0');
      if (n > 100'000'000) raise("ValueError", "{} too big", what);
    }
    return n;
  }

  Value named_value() {
    if (!values_.is(Kind::dict)) raise("TypeError", "format requires a mapping");
    const size_t begin = ++at_;
    for (int open = 1; open > 0; ++at_) {
      if (at_ >= s_.size()) raise("ValueError", "incomplete format key");
      open += s_[at_] == '(' ? 1 : s_[at_] == ')' ? -1 : 0;
    }
    const std::string key(s_.substr(begin, at_ - 1 - begin));
    const Value* found = values_.as_dict().find(key);
    if (found == nullptr) raise("KeyError", "{}", repr_of_string(key));
    return *found;
  }

  void directive() {
    const size_t begin = at_++;
    Value named;
    if (peek() == '(') named = named_value();
    NumberFormat f;
    f.align = '>';
    bool left = false;
    for (;; ++at_) {
      const char c = peek();
      if (c == '-') {
        left = true;
      } else if (c == '+') {
        f.sign = '+';
      } else if (c == ' ') {
        if (f.sign != '+') f.sign = ' ';
      } else if (c == '#') {
        f.alternate = true;
      } else if (c == '0') {
        f.zero = true;
      } else {
        break;
      }
    }
    f.width = number("width");
    if (f.width < 0) left = true, f.width = -f.width;
    if (peek() == '.') {
      ++at_;
      f.precision = std::max<int64_t>(0, number("precision"));
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    const char type = peek();
    ++at_;
    if (left) f.align = '<', f.zero = false;
    if (type == '%') {
      out_.append(text_, begin, 1);
      return;
    }
    convert(type, f, named.is_missing() ? next_value() : named);
  }

  void convert(char type, NumberFormat& f, const Value& v) {
    switch (type) {
      case 's':
      case 'r':
      case 'a': {
        MarkedText text = type == 's' ? in_.text_of(v) : MarkedText(repr(v, in_.budget), !has_untrusted(v, in_.budget));
        if (markup_) text = escape_html(Value::string(text, v.is_string() && v.str().markup));
        f.zero = false;
        pad_text(in_, out_, text, f);
        return;
      }
      case 'c': {
        f.zero = false;
        if (v.is_string() && v.str().n_chars == 1) return pad_text(in_, out_, v.text(), f);
        if (!v.is_whole()) raise("TypeError", "%c requires int or char");
        if (v.as_int() < 0 || v.as_int() > 0x10FFFF) raise("OverflowError", "%c arg not in range(0x110000)");
        std::string c;
        utf8_append(c, static_cast<char32_t>(v.as_int()));
        return pad_text(in_, out_, MarkedText(c), f);
      }
      case 'd':
      case 'i':
      case 'u':
        if (v.is_object(ObjectKind::big_integer)) return pad_text(in_, out_, in_.text_of(v), f);
        if (!is_number(v)) raise("TypeError", "%{} format: a real number is required, not {}", type, type_name(v));
        f.type = 'd';
        break;
      case 'x':
      case 'X':
      case 'o':
        if (!v.is_whole()) raise("TypeError", "%{} format: an integer is required, not {}", type, type_name(v));
        f.type = type;
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!is_number(v)) raise("TypeError", "must be real number, not {}", type_name(v));
        f.type = type;
        break;
      default:
        raise("ValueError", "unsupported format character '{}' (0x{:x}) at index {}", type, static_cast<uint8_t>(type),
              count_chars(s_.substr(0, at_ - 1)));
    }
    const bool whole = f.type == 'd' || f.type == 'x' || f.type == 'X' || f.type == 'o';
    out_.append(whole ? layout_whole(in_, real_to_whole(v), f) : layout_real(in_, v.as_real(), f), true);
  }

  Interpreter& in_;
  const bool markup_;
  const MarkedText& text_;
  const std::string_view s_;
  const Value& values_;
  size_t at_ = 0, n_used_ = 0;
  MarkedText out_;
};

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& in, const Arguments& args) : in_(in), args_(args) {}

  void run(const MarkedText& text, MarkedText& out, int depth) {
    if (depth > 2) raise("ValueError", "Max string recursion exceeded");
    const std::string_view s = text.view();
    size_t at = 0;
    while (at < s.size()) {
      const size_t brace = std::min(s.find_first_of("{}", at), s.size());
      out.append(text, at, brace - at);
      if (brace == s.size()) break;
      if (brace + 1 < s.size() && s[brace + 1] == s[brace]) {
        out.append(text, brace, 1);
        at = brace + 2;
      } else if (s[brace] == '}') {
        raise("ValueError", "Single '}}' encountered in format string");
      } else {
        at = field(text, brace + 1, out, depth);
      }
      check_size(in_, out);
    }
  }

 private:
  // The offset behind the closing brace.
  size_t field(const MarkedText& text, size_t begin, MarkedText& out, int depth) {
    const std::string_view s = text.view();
    if (begin >= s.size()) raise("ValueError", "Single '{{' encountered in format string");
    size_t end = begin;
    int open = 1, brackets = 0;
    size_t colon = 0, bang = 0;
    for (; end < s.size(); ++end) {
      const char c = s[end];
      if (c == '{') {
        ++open;
      } else if (c == '}') {
        if (--open == 0) break;
      } else if (c == '[' && colon == 0) {
        ++brackets;
      } else if (c == ']' && colon == 0) {
        --brackets;
      } else if (c == ':' && open == 1 && brackets <= 0 && colon == 0) {
        colon = end;
      } else if (c == '!' && open == 1 && brackets <= 0 && colon == 0 && bang == 0) {
        bang = end;
      }
    }
    if (end >= s.size()) raise("ValueError", "expected '}}' before end of string");
    const size_t name_end = bang != 0 ? bang : colon != 0 ? colon : end;
    Value v = lookup(s.substr(begin, name_end - begin));
    if (bang != 0) {
      const size_t stop = colon != 0 ? colon : end;
      if (stop != bang + 2) raise("ValueError", "expected ':' after conversion specifier");
      v = converted(v, s[bang + 1]);
    }
    MarkedText spec;
    if (colon != 0) run(text.slice(colon + 1, end - colon - 1), spec, depth + 1);
    put(v, spec.view(), out);
    return end + 1;
  }

  Value converted(const Value& v, char conversion) {
    if (conversion == 's') return Value::string(in_.text_of(v));
    if (conversion == 'r' || conversion == 'a') {
      return Value::string(MarkedText(repr(v, in_.budget), !has_untrusted(v, in_.budget)));
    }
    raise("ValueError", "Unknown conversion specifier {}", conversion);
  }

  Value lookup(std::string_view name) {
    size_t at = std::min(name.find_first_of(".["), name.size());
    Value v = first(name.substr(0, at), name.empty());
    while (at < name.size()) {
      in_.budget.charge(1);
      if (name[at] == '.') {
        const size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        if (end == at + 1) raise("ValueError", "Empty attribute in format string");
        v = in_.getattr(v, Value::trusted_string(std::string(name.substr(at + 1, end - at - 1))));
        at = end;
        continue;
      }
      const size_t close = name.find(']', at);
      if (close == std::string_view::npos) raise("ValueError", "Missing ']' in format string");
      const std::string key(name.substr(at + 1, close - at - 1));
      if (key.empty()) raise("ValueError", "Empty attribute in format string");
      const auto index = whole(key);
      v = in_.getitem(v, index ? Value::integer(*index) : Value::trusted_string(key));
      at = close + 1;
      if (at < name.size() && name[at] != '.' && name[at] != '[') {
        raise("ValueError", "Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return v;
  }

  static std::optional<int64_t> whole(std::string_view text) {
    int64_t n = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty() || text[0] == '-' || r.ec != std::errc() || r.ptr != text.data() + text.size())
      return std::nullopt;
    return n;
  }

  // string.Formatter numbers only fields that are empty altogether, not "{.attribute}".
  Value first(std::string_view name, bool automatic) {
    const auto index = whole(name);
    if (automatic || index) {
      if (numbering_ == (automatic ? 2 : 1)) {
        raise("ValueError", "cannot switch from manual field specification to automatic field numbering");
      }
      numbering_ = automatic ? 1 : 2;
      const size_t i = automatic ? n_automatic_++ : static_cast<size_t>(*index);
      if (i >= args_.positional.size()) {
        raise("IndexError", "tuple index out of range");
      }
      return args_.positional[i];
    }
    for (const auto& [key, value] : args_.named) {
      if (key == name) return value;
    }
    raise("KeyError", "{}", repr_of_string(name));
  }

  void put(const Value& v, std::string_view spec, MarkedText& out) {
    if (spec.empty()) return out.append(in_.text_of(v));
    if (!v.is_string() && !is_number(v)) {
      raise("TypeError", "unsupported format string passed to {}.__format__", type_name(v));
    }
    NumberFormat f = parse_format_spec(spec);
    if (v.is_string()) {
      if (f.type != 0 && f.type != 's') {
        raise("ValueError", "Unknown format code '{}' for object of type 'str'", f.type);
      }
      if (f.sign != 0) raise("ValueError", "Sign not allowed in string format specifier");
      if (f.align == 0) f.align = '<';
      if (f.align == '=') raise("ValueError", "'=' alignment not allowed in string format specifier");
      return pad_text(in_, out, v.text(), f);
    }
    if (f.align == 0) f.align = '>';
    if (v.is(Kind::boolean) && f.type == 0) return pad_text(in_, out, MarkedText(v.as_bool() ? "True" : "False"), f);
    const bool as_whole =
        v.is_whole() && (f.type == 0 || std::string_view("bcdoxXn").find(f.type) != std::string_view::npos);
    if (!as_whole && f.type != 0 && std::string_view("eEfFgGn%").find(f.type) == std::string_view::npos) {
      raise("ValueError", "Unknown format code '{}' for object of type '{}'", f.type, type_name(v));
    }
    out.append(as_whole ? layout_whole(in_, v.as_int(), f) : layout_real(in_, v.as_real(), f), true);
  }

  Interpreter& in_;
  const Arguments& args_;
  int numbering_ = 0;  // 1: {}, 2: {0}
  size_t n_automatic_ = 0;
};

}  // namespace

Value format_percent(Interpreter& in, const Value& format, const Value& values) {
  return PercentFormatter(in, format, values).run();
}

Value format_braces(Interpreter& in, const Value& self, Arguments& args) {
  MarkedText out;
  BraceFormatter(in, args).run(self.text(), out, 0);
  in.budget.make_bytes(out.size());
  return Value::string(std::move(out), self.str().markup);
}

}  // namespace ridge::jinja
