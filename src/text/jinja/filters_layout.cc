// Filters that lay text out: indent, truncate, wordwrap, xmlattr, pprint, tojson.
#include <algorithm>
#include <unordered_map>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

bool flag(const Value& v) {
  return !v.is_missing() && truthy(v);
}

Value require_string(const Value& v, const char* what) {
  if (v.is_string()) return v;
  if (v.is_undefined()) raise_undefined(v);
  raise("TypeError", "{}, not {}", what, type_name(v));
}

Value filter_indent(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_indent", {"s", "width", "first", "blank"}, 1}, args);
  MarkedText indention;
  if (a[1].is_string()) {
    indention = a[1].text();
  } else {
    indention = spaces(in, a[1].is_missing() ? 4 : whole_number(a[1], "can't multiply sequence by non-int: "));
  }
  if (!a[0].is_string()) {
    if (a[0].is_undefined()) raise_undefined(a[0]);
    if (a[0].is(Kind::list))
      raise("AttributeError", "'list' object has no attribute 'splitlines'");  // list += str extends it
    raise("TypeError", "unsupported operand type(s) for +=: '{}' and 'str'", type_name(a[0]));
  }
  MarkedText text = a[0].text();
  text.append("\n", true);
  const std::vector<MarkedText> lines = split_lines(in, text, false);
  MarkedText out;
  const bool blank = flag(a[3]);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) out.append("\n", true);
    if (i == 0 ? flag(a[2]) : blank || !lines[i].empty()) out.append(indention);
    out.append(lines[i]);
    if (out.size() > in.budget.limits().output_bytes) in.budget.make_bytes(out.size());
  }
  in.budget.make_bytes(out.size());
  return Value::string(std::move(out), a[0].str().markup);
}

Value filter_truncate(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_truncate", {"s", "length", "killwords", "end", "leeway"}, 1}, args);
  const int64_t length = a[1].is_missing() ? 255 : whole_number(a[1], "");
  const Value end = a[3].is_missing() ? Value::trusted_string("...") : require_string(a[3], "expected a str");
  const int64_t leeway = a[4].is_missing() || a[4].is_none() ? 5 : whole_number(a[4], "");
  const auto n_end = static_cast<int64_t>(end.str().n_chars);
  if (length < n_end) raise("AssertionError", "expected length >= {}, got {}", n_end, length);
  if (leeway < 0) raise("AssertionError", "expected leeway >= 0, got {}", leeway);
  const int64_t n = in.length(a[0]);
  int64_t most = 0;
  if (__builtin_add_overflow(length, leeway, &most) || n <= most) return a[0];
  const Value head = in.slice(a[0], Value::none(), Value::integer(length - n_end), Value::none());
  if (!head.is_string()) raise("AttributeError", "'{}' object has no attribute 'rsplit'", type_name(a[0]));
  MarkedText out = head.text();
  if (!flag(a[2])) {
    if (const size_t space = out.view().rfind(' '); space != std::string_view::npos) out = out.slice(0, space);
  }
  out.append(end.text());
  return Value::string(std::move(out));
}

// A word or a run of white space, as textwrap cuts lines; words may be cut behind hyphens between letters.
std::vector<MarkedText> wrap_chunks(Interpreter& in, const MarkedText& line, bool break_on_hyphens) {
  const std::string_view s = line.view();
  std::vector<MarkedText> chunks;
  size_t begin = 0;
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    const size_t next = i + c.n_bytes;
    const bool ends = next >= s.size() || is_space(c.code) != is_space(utf8_read(s, next).code);
    bool hyphen = false;
    if (break_on_hyphens && c.code == '-' && i > begin && next < s.size() && is_alpha(utf8_read(s, next).code)) {
      size_t before = i - 1;
      while (before > begin && (static_cast<uint8_t>(s[before]) & 0xC0) == 0x80) --before;
      hyphen = is_alpha(utf8_read(s, before).code);
    }
    if (ends || hyphen) {
      in.budget.make_object();
      chunks.push_back(line.slice(begin, next - begin));
      begin = next;
    }
    i = next;
  }
  return chunks;
}

void wrap_line(Interpreter& in, const MarkedText& line, int64_t width, bool break_long, bool hyphens,
               std::vector<Value>& out) {
  in.budget.walk_chars(line.size());
  std::vector<MarkedText> chunks = wrap_chunks(in, line, hyphens);
  std::reverse(chunks.begin(), chunks.end());
  const auto n_chars = [](const MarkedText& t) { return static_cast<int64_t>(count_chars(t.view())); };
  const auto is_blank = [](const MarkedText& t) { return t.empty() || is_space(utf8_read(t.view(), 0).code); };
  bool first = true;
  while (!chunks.empty()) {
    in.budget.charge(1);
    std::vector<MarkedText> current;
    int64_t used = 0;
    if (!first && is_blank(chunks.back())) chunks.pop_back();
    while (!chunks.empty() && used + n_chars(chunks.back()) <= width) {
      used += n_chars(chunks.back());
      current.push_back(std::move(chunks.back()));
      chunks.pop_back();
    }
    if (!chunks.empty() && n_chars(chunks.back()) > width) {
      const int64_t room = std::max<int64_t>(1, width - used);
      if (break_long) {
        MarkedText& chunk = chunks.back();
        const size_t cut = byte_offset(chunk.view(), count_chars(chunk.view()), static_cast<size_t>(room));
        in.budget.make_bytes(chunk.size());
        in.budget.make_object();
        current.push_back(chunk.slice(0, cut));
        chunk = chunk.slice(cut, chunk.size() - cut);
        if (chunk.empty()) chunks.pop_back();
      } else if (current.empty()) {
        current.push_back(std::move(chunks.back()));
        chunks.pop_back();
      }
    }
    if (!current.empty() && is_blank(current.back())) current.pop_back();
    if (current.empty()) continue;
    first = false;
    MarkedText text;
    for (const MarkedText& part : current) text.append(part);
    out.push_back(Value::string(std::move(text)));
  }
}

Value filter_wordwrap(Interpreter& in, Arguments& args) {
  const auto a =
      bind_arguments({"do_wordwrap", {"s", "width", "break_long_words", "wrapstring", "break_on_hyphens"}, 1}, args);
  if (a[0].is_undefined()) raise_undefined(a[0]);
  if (!a[0].is_string()) raise("AttributeError", "'{}' object has no attribute 'splitlines'", type_name(a[0]));
  const Value& s = a[0];
  const int64_t width = a[1].is_missing() ? 79 : whole_number(a[1], "");
  if (width <= 0) raise("ValueError", "invalid width {} (must be > 0)", width);
  const Value separator =
      a[3].is_missing() || a[3].is_none() ? Value::trusted_string("\n") : require_string(a[3], "expected a str");
  std::vector<Value> paragraphs;
  for (const MarkedText& line : split_lines(in, s.text(), false)) {
    std::vector<Value> lines;
    wrap_line(in, line, width, a[2].is_missing() || truthy(a[2]), a[4].is_missing() || truthy(a[4]), lines);
    paragraphs.push_back(join(in, separator.text(), lines));
  }
  return join(in, separator.text(), paragraphs);
}

Value filter_xmlattr(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_xmlattr", {"d", "autospace"}, 1}, args);
  if (a[0].is_undefined()) raise_undefined(a[0]);
  if (!a[0].is(Kind::dict)) raise("AttributeError", "'{}' object has no attribute 'items'", type_name(a[0]));
  MarkedText out;
  for (const auto& [key, value] : a[0].as_dict().entries) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_string()) raise("TypeError", "expected string or bytes-like object, got '{}'", type_name(key));
    const MarkedText& name = key.text();
    if (name.view().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      raise("ValueError", "Invalid character in attribute name: {}", repr(key, in.budget));
    }
    if (!out.empty()) out.append(" ", true);
    out.append(escape_html(Value::string(name)));
    out.append("=\"", true);
    out.append(escape_html(value.is_string() ? value : Value::string(in.text_of(value))));
    out.append("\"", true);
    if (out.size() > in.budget.limits().output_bytes) in.budget.make_bytes(out.size());
  }
  in.budget.make_bytes(out.size() + 1);
  MarkedText spaced;
  if (!out.empty() && (a[1].is_missing() || truthy(a[1]))) spaced.append(" ", true);
  spaced.append(out);
  return Value::string(std::move(spaced));
}

Value with_sorted_keys(Interpreter& in, const Value& v) {
  in.budget.charge(1);
  if (v.is(Kind::list) || v.is(Kind::tuple)) {
    std::vector<Value> items;
    for (const Value& item : v.items()) items.push_back(with_sorted_keys(in, item));
    return v.is(Kind::list) ? new_list(std::move(items)) : new_tuple(std::move(items));
  }
  if (!v.is(Kind::dict)) return v;
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, value] : v.as_dict().entries) entries.emplace_back(key, with_sorted_keys(in, value));
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& x, const auto& y) { return compare_keys(x.first, y.first) < 0; });
  return new_dict(std::move(entries));
}

Value filter_pprint(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_pprint", {"value"}, 1}, args);
  std::string text = repr(with_sorted_keys(in, a[0]), in.budget);
  if (text.size() > 80)
    raise("NotImplementedError", "pprint of values longer than one line is not supported; use tojson");
  return Value::string(MarkedText(std::move(text), !has_untrusted(a[0], in.budget)));
}

Value filter_tojson(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"tojson", {"x", "ensure_ascii", "indent", "separators", "sort_keys"}, 1}, args);
  std::string text = dump_json(in, a[0], a[1], a[2], a[3], a[4]);
  in.budget.make_bytes(text.size());
  return Value::string(MarkedText(std::move(text), !has_untrusted(a[0], in.budget)));
}

Value refuse_urlize(Interpreter&, Arguments&) {
  raise("NotImplementedError", "the filter 'urlize' is not supported");
}

}  // namespace

Builtin find_layout_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kFilters = {
      {"indent", &filter_indent},   {"truncate", &filter_truncate}, {"wordwrap", &filter_wordwrap},
      {"xmlattr", &filter_xmlattr}, {"pprint", &filter_pprint},     {"tojson", &filter_tojson},
      {"urlize", &refuse_urlize},
  };
  const auto at = kFilters.find(name);
  return at == kFilters.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
