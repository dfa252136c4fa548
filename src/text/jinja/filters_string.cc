// Filters that turn text into text.
#include <algorithm>
#include <unordered_map>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

// Jinja2's soft_str: text as it is (Markup stays Markup), anything else as str() prints it.
Value soft(Interpreter& in, const Value& v) {
  return v.is_string() ? v : Value::string(in.text_of(v));
}

bool is_markup(const Value& v) {
  return v.is_string() && v.str().markup;
}

template <Case kCase>
Value filter_case(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({kCase == Case::upper ? "do_upper" : "do_lower", {"s"}, 1}, args);
  const Value s = soft(in, a[0]);
  in.budget.make_bytes(s.text().size());
  if (!s.str().is_ascii()) in.budget.walk_chars(s.text().size());
  return Value::string(map_case(s.text(), kCase), is_markup(s));
}

Value filter_capitalize(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_capitalize", {"s"}, 1}, args);
  const Value s = soft(in, a[0]);
  in.budget.walk_chars(s.text().size());
  return Value::string(capitalize(s.text()), is_markup(s));
}

// Words begin behind white space and opening brackets, unlike those of str.title.
Value filter_title(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_title", {"s"}, 1}, args);
  const MarkedText text = in.text_of(a[0]);
  in.budget.walk_chars(2 * text.size());
  const auto separates = [](char32_t c) {
    return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
  };
  MarkedText out;
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char first = utf8_read(text.view(), at);
    size_t end = at + first.n_bytes;
    if (separates(first.code)) {
      out.append(text, at, end - at);
      at = end;
      continue;
    }
    out.append(map_case(text.slice(at, first.n_bytes), Case::upper));
    while (end < text.size()) {
      const Utf8Char c = utf8_read(text.view(), end);
      if (separates(c.code)) break;
      end += c.n_bytes;
    }
    out.append(map_case(text.slice(at + first.n_bytes, end - at - first.n_bytes), Case::lower));
    at = end;
  }
  return Value::string(std::move(out));
}

Value filter_trim(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_trim", {"value", "chars"}, 1}, args);
  const Value s = soft(in, a[0]);
  return Value::string(strip(in, s.text(), a[1], true, true), is_markup(s));
}

Value filter_string(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"soft_str", {"s"}, 1}, args);
  return soft(in, a[0]);
}

Value filter_replace(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_replace", {"s", "old", "new", "count"}, 3}, args);
  const int64_t count = a[3].is_missing() || a[3].is_none() ? -1 : whole_number(a[3], "");
  return Value::string(replace_all(in, in.text_of(a[0]), in.text_of(a[1]), in.text_of(a[2]), count));
}

Value filter_center(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_center", {"value", "width"}, 1}, args);
  Arguments rest;
  rest.positional.push_back(a[1].is_missing() ? Value::integer(80) : a[1]);
  return find_string_method("center")(in, soft(in, a[0]), rest);
}

Value filter_escape(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"escape", {"s"}, 1}, args);
  const Value s = soft(in, a[0]);
  in.budget.walk_chars(s.text().size());
  MarkedText out = escape_html(s);
  in.budget.make_bytes(out.size());
  return Value::string(std::move(out), true);
}

Value filter_forceescape(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_forceescape", {"value"}, 1}, args);
  const Value s = Value::string(in.text_of(a[0]));
  in.budget.walk_chars(s.text().size());
  MarkedText out = escape_html(s);
  in.budget.make_bytes(out.size());
  return Value::string(std::move(out), true);
}

Value filter_safe(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_mark_safe", {"value"}, 1}, args);
  return Value::string(in.text_of(a[0]), true);
}

Value filter_format(Interpreter& in, Arguments& args) {
  if (args.positional.empty()) raise("TypeError", "do_format() missing 1 required positional argument: 'value'");
  const Value format = soft(in, args.positional[0]);
  std::vector<Value> values(args.positional.begin() + 1, args.positional.end());
  if (!values.empty() && !args.named.empty()) {
    raise("FilterArgumentError", "can't handle positional and keyword arguments at the same time");
  }
  if (args.named.empty()) return format_percent(in, format, new_tuple(std::move(values)));
  std::vector<std::pair<Value, Value>> entries;
  for (auto& [name, value] : args.named) entries.emplace_back(Value::trusted_string(name), std::move(value));
  return format_percent(in, format, new_dict(std::move(entries)));
}

// Without tags and comments, white space folded, the plain entities decoded.
Value filter_striptags(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_striptags", {"value"}, 1}, args);
  const MarkedText text = in.text_of(a[0]);
  const std::string_view s = text.view();
  in.budget.make_bytes(s.size());
  const auto without = [&](const MarkedText& from, std::string_view open, std::string_view close) {
    MarkedText out;
    size_t at = 0;
    while (at < from.size()) {
      const size_t begin = from.view().find(open, at);
      const size_t end = begin == std::string_view::npos ? begin : from.view().find(close, begin + open.size());
      if (end == std::string_view::npos) break;
      out.append(from, at, begin - at);
      at = end + close.size();
    }
    out.append(from, at, from.size() - at);
    return out;
  };
  const Value stripped = Value::string(without(without(text, "<!--", "-->"), "<", ">"));
  Arguments none;
  const Value words = find_string_method("split")(in, stripped, none);
  MarkedText out = join(in, MarkedText(" "), words.items()).text();
  static constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"},  {"&gt;", ">"},          {"&quot;", "\""}, {"&#34;", "\""},
      {"&#39;", "'"}, {"&nbsp;", "\xC2\xA0"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : kEntities) {
    out = replace_all(in, out, MarkedText(std::string(entity)), MarkedText(std::string(character)), -1);
  }
  return Value::string(std::move(out));
}

std::string url_quote(std::string_view bytes, bool for_query) {
  std::string out;
  for (const char c : bytes) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '-' || c == '~' || (c == '/' && !for_query);
    if (plain) {
      out += c;
    } else if (c == ' ' && for_query) {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return out;
}

Value filter_urlencode(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_urlencode", {"value"}, 1}, args);
  const bool untrusted = has_untrusted(a[0], in.budget);
  if (a[0].is_string() || !in.is_iterable(a[0])) {
    const MarkedText text = in.text_of(a[0]);
    in.budget.walk_chars(4 * text.size());
    return Value::string(MarkedText(url_quote(text.view(), false), !untrusted));
  }
  const Value pairs =
      a[0].is(Kind::dict) ? Value::object(std::make_shared<DictViewObject>(a[0], ViewKind::items)) : a[0];
  std::string out;
  for (const Value& pair : in.to_vector(pairs)) {
    const std::vector<Value> parts = in.to_vector(pair);
    if (parts.size() != 2)
      raise("ValueError", "{} values to unpack (expected 2)", parts.size() < 2 ? "not enough" : "too many");
    in.budget.walk_chars(4 * (in.text_of(parts[0]).size() + in.text_of(parts[1]).size()));
    if (!out.empty()) out += '&';
    out += url_quote(in.text_of(parts[0]).view(), true) + "=" + url_quote(in.text_of(parts[1]).view(), true);
    in.budget.make_bytes(out.size());
  }
  return Value::string(MarkedText(std::move(out), !untrusted));
}

Value filter_wordcount(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_wordcount", {"s"}, 1}, args);
  const MarkedText text = in.text_of(a[0]);
  in.budget.walk_chars(text.size());
  int64_t n = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_read(text.view(), i);
    const bool is_word = c.code == '_' || is_alnum(c.code);
    n += is_word && !in_word;
    in_word = is_word;
    i += c.n_bytes;
  }
  return Value::integer(n);
}

}  // namespace

MarkedText escape_html(const Value& v) {
  if (v.str().markup) return v.text();
  MarkedText out;
  const MarkedText& text = v.text();
  size_t at = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char* entity = nullptr;
    switch (text.view()[i]) {
      case '&':
        entity = "&amp;";
        break;
      case '<':
        entity = "&lt;";
        break;
      case '>':
        entity = "&gt;";
        break;
      case '\'':
        entity = "&#39;";
        break;
      case '"':
        entity = "&#34;";
        break;
      default:
        continue;
    }
    out.append(text, at, i - at);
    out.append(MarkedText(entity, text.slice(i, 1).all_trusted()));
    at = i + 1;
  }
  out.append(text, at, text.size() - at);
  return out;
}

Builtin find_string_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kFilters = {
      {"upper", &filter_case<Case::upper>},
      {"lower", &filter_case<Case::lower>},
      {"capitalize", &filter_capitalize},
      {"title", &filter_title},
      {"trim", &filter_trim},
      {"string", &filter_string},
      {"replace", &filter_replace},
      {"center", &filter_center},
      {"escape", &filter_escape},
      {"e", &filter_escape},
      {"forceescape", &filter_forceescape},
      {"safe", &filter_safe},
      {"format", &filter_format},
      {"striptags", &filter_striptags},
      {"urlencode", &filter_urlencode},
      {"wordcount", &filter_wordcount},
  };
  const auto at = kFilters.find(name);
  return at == kFilters.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
