// The methods of str that make or take apart text. Those that only look are in string_queries.cc.
#include <algorithm>
#include <unordered_map>

#include "text/jinja/filters.h"
#include "text/jinja/string_queries.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

Value same_kind(const Value& self, MarkedText text) {
  return Value::string(std::move(text), self.str().markup);
}

void charge_mapping(Interpreter& in, const Value& s) {
  in.budget.make_bytes(s.text().size());
  if (!s.str().is_ascii()) in.budget.walk_chars(s.text().size());
}

template <Case kCase>
Value mapped(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"case", {}, 0}, args);
  charge_mapping(in, self);
  return same_kind(self, map_case(self.text(), kCase));
}

Value str_capitalize(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"capitalize", {}, 0}, args);
  in.budget.walk_chars(self.text().size());
  return same_kind(self, capitalize(self.text()));
}

Value str_title(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"title", {}, 0}, args);
  in.budget.walk_chars(self.text().size());
  return same_kind(self, title_words(self.text()));
}

template <bool kLeft, bool kRight>
Value str_strip(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"strip", {"chars"}, 0}, args);
  return same_kind(self, strip(in, self.text(), a[0], kLeft, kRight));
}

void add_part(Interpreter& in, std::vector<Value>& parts, const Value& self, size_t from, size_t to) {
  in.budget.make_object();
  parts.push_back(same_kind(self, self.text().slice(from, to - from)));
}

// At white space, runs of it counting once.
std::vector<Value> split_space(Interpreter& in, const Value& self, int64_t max_splits, bool from_right) {
  const std::string_view s = self.text().view();
  in.budget.walk_chars(s.size());
  struct Word {
    size_t from, to;
  };
  std::vector<Word> words;
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    if (is_space(c.code)) {
      i += c.n_bytes;
      continue;
    }
    const size_t from = i;
    while (i < s.size()) {
      const Utf8Char d = utf8_read(s, i);
      if (is_space(d.code)) break;
      i += d.n_bytes;
    }
    words.push_back({from, i});
  }
  std::vector<Value> parts;
  const size_t most = max_splits < 0 ? words.size() : static_cast<size_t>(max_splits);
  if (words.size() <= most || words.empty()) {
    for (const Word& w : words) add_part(in, parts, self, w.from, w.to);
    return parts;
  }
  // One part keeps the rest with its inner white space: the last one, or from the right the first.
  if (from_right) {
    const size_t rest = words.size() - most;
    add_part(in, parts, self, 0, words[rest - 1].to);
    for (size_t i = rest; i < words.size(); ++i) add_part(in, parts, self, words[i].from, words[i].to);
    return parts;
  }
  for (size_t i = 0; i < most; ++i) add_part(in, parts, self, words[i].from, words[i].to);
  add_part(in, parts, self, words[most].from, s.size());
  return parts;
}

std::vector<Value> split_at(Interpreter& in, const Value& self, std::string_view separator, int64_t max_splits,
                            bool from_right) {
  const std::string_view s = self.text().view();
  std::vector<Value> parts;
  uint64_t left = max_splits < 0 ? UINT64_MAX : static_cast<uint64_t>(max_splits);
  if (!from_right) {
    size_t at = 0;
    for (; left > 0; --left) {
      const size_t found = find_bytes(s, separator, at);
      if (found == std::string_view::npos) break;
      add_part(in, parts, self, at, found);
      at = found + separator.size();
    }
    add_part(in, parts, self, at, s.size());
    return parts;
  }
  size_t end = s.size();
  for (; left > 0 && end >= separator.size(); --left) {
    const size_t found = rfind_bytes(s.substr(0, end), separator);
    if (found == std::string_view::npos) break;
    add_part(in, parts, self, found + separator.size(), end);
    end = found;
  }
  add_part(in, parts, self, 0, end);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

template <bool kFromRight>
Value str_split(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({kFromRight ? "rsplit" : "split", {"sep", "maxsplit"}, 0}, args);
  const int64_t most = a[1].is_missing() ? -1 : whole_number(a[1], "");
  in.budget.make_bytes(self.text().size());
  if (a[0].is_missing() || a[0].is_none()) return new_list(split_space(in, self, most, kFromRight));
  const MarkedText& separator = string_argument(a[0], "must be str or None, argument");
  if (separator.empty()) raise("ValueError", "empty separator");
  return new_list(split_at(in, self, separator.view(), most, kFromRight));
}

Value str_splitlines(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"splitlines", {"keepends"}, 0}, args);
  std::vector<Value> lines;
  for (MarkedText& line : split_lines(in, self.text(), !a[0].is_missing() && truthy(a[0]))) {
    lines.push_back(same_kind(self, std::move(line)));
  }
  return new_list(std::move(lines));
}

template <bool kFromRight>
Value str_partition(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"partition", {"sep"}, 1}, args);
  const MarkedText& separator = string_argument(a[0], "separator");
  if (separator.empty()) raise("ValueError", "empty separator");
  const MarkedText& text = self.text();
  in.budget.make_bytes(text.size());
  const size_t at =
      kFromRight ? rfind_bytes(text.view(), separator.view()) : find_bytes(text.view(), separator.view(), 0);
  const Value nothing = same_kind(self, {});
  if (at == std::string_view::npos)
    return kFromRight ? new_tuple({nothing, nothing, self}) : new_tuple({self, nothing, nothing});
  const size_t after = at + separator.size();
  return new_tuple({same_kind(self, text.slice(0, at)), same_kind(self, separator),
                    same_kind(self, text.slice(after, text.size() - after))});
}

Value str_replace(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"replace", {"old", "new", "count"}, 2}, args);
  const MarkedText& from = string_argument(a[0], "replace() argument 1");
  const MarkedText& to = string_argument(a[1], "replace() argument 2");
  return same_kind(self, replace_all(in, self.text(), from, to, a[2].is_missing() ? -1 : whole_number(a[2], "")));
}

Value str_join(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"join", {"iterable"}, 1}, args);
  if (!in.is_iterable(a[0])) raise("TypeError", "can only join an iterable");
  const std::vector<Value> items = in.to_vector(a[0]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_string()) {
      raise("TypeError", "sequence item {}: expected str instance, {} found", i, type_name(items[i]));
    }
  }
  return join(in, self.text(), items);
}

enum class Side { left, right, both };

// center, ljust, rjust.
template <Side kSide>
Value str_justify(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"center", {"width", "fillchar"}, 1}, args);
  const int64_t width = whole_number(a[0], ""), n = static_cast<int64_t>(self.str().n_chars);
  const Value fill = a[1].is_missing() ? Value::trusted_string(" ") : a[1];
  if (!fill.is_string() || fill.str().n_chars != 1) {
    raise("TypeError", "The fill character must be exactly one character long");
  }
  if (width <= n) return self;
  const auto room = static_cast<uint64_t>(width - n);
  in.budget.make_bytes(std::min<uint64_t>(room, UINT64_MAX / 8) * fill.text().size() + self.text().size());
  // CPython's split of an odd room: the left side gets one more when both room and width are odd.
  const uint64_t left = kSide == Side::right  ? room
                        : kSide == Side::left ? 0
                                              : room / 2 + (room & static_cast<uint64_t>(width) & 1);
  MarkedText out;
  for (uint64_t i = 0; i < left; ++i) out.append(fill.text());
  out.append(self.text());
  for (uint64_t i = left; i < room; ++i) out.append(fill.text());
  return same_kind(self, std::move(out));
}

Value str_zfill(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"zfill", {"width"}, 1}, args);
  const int64_t width = whole_number(a[0], ""), n = static_cast<int64_t>(self.str().n_chars);
  if (width <= n) return self;
  const auto room = static_cast<uint64_t>(width - n);
  in.budget.make_bytes(room + self.text().size());
  const MarkedText& text = self.text();
  const size_t sign = !text.empty() && (text.view()[0] == '+' || text.view()[0] == '-') ? 1 : 0;
  MarkedText out = text.slice(0, sign);
  out.append(std::string(room, '0'), true);
  out.append(text, sign, text.size() - sign);
  return same_kind(self, std::move(out));
}

Value str_expandtabs(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"expandtabs", {"tabsize"}, 0}, args);
  const int64_t size = a[0].is_missing() ? 8 : whole_number(a[0], "");
  const MarkedText& text = self.text();
  in.budget.walk_chars(text.size());
  MarkedText out;
  int64_t column = 0;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_read(text.view(), i);
    if (c.code == '\t') {
      if (size > 0) {
        const int64_t n = size - column % size;
        in.budget.make_bytes(out.size() + static_cast<uint64_t>(n));
        out.append(std::string(static_cast<size_t>(n), ' '), true);
        column += n;
      }
    } else {
      out.append(text, i, c.n_bytes);
      column = c.code == '\n' || c.code == '\r' ? 0 : column + 1;
    }
    i += c.n_bytes;
  }
  return same_kind(self, std::move(out));
}

template <bool kSuffix>
Value str_remove(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({kSuffix ? "removesuffix" : "removeprefix", {"affix"}, 1}, args);
  const MarkedText& affix = string_argument(a[0], kSuffix ? "removesuffix() argument" : "removeprefix() argument");
  const MarkedText& text = self.text();
  in.budget.make_bytes(text.size());
  if (affix.size() > text.size()) return self;
  const size_t at = kSuffix ? text.size() - affix.size() : 0;
  if (text.view().substr(at, affix.size()) != affix.view()) return self;
  return same_kind(self, text.slice(kSuffix ? 0 : affix.size(), text.size() - affix.size()));
}

Value str_format(Interpreter& in, const Value& self, Arguments& args) {
  return format_braces(in, self, args);
}

Value str_format_map(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"format_map", {"mapping"}, 1}, args);
  Arguments named;
  if (!a[0].is(Kind::dict)) raise("TypeError", "format_map() argument must be a mapping");
  for (const auto& [key, value] : a[0].as_dict().entries) {
    if (key.is_string()) named.named.emplace_back(key.bytes(), value);
  }
  return format_braces(in, self, named);
}

Value str_encode(Interpreter&, const Value&, Arguments&) {
  raise("TypeError", "str.encode gives bytes, which chat templates do not have here");
}

}  // namespace

Method find_string_method(std::string_view name) {
  static const std::unordered_map<std::string_view, Method> kMethods = {
      {"upper", &mapped<Case::upper>},
      {"lower", &mapped<Case::lower>},
      {"swapcase", &mapped<Case::swap>},
      {"casefold", &mapped<Case::fold>},
      {"capitalize", &str_capitalize},
      {"title", &str_title},
      {"strip", &str_strip<true, true>},
      {"lstrip", &str_strip<true, false>},
      {"rstrip", &str_strip<false, true>},
      {"split", &str_split<false>},
      {"rsplit", &str_split<true>},
      {"splitlines", &str_splitlines},
      {"partition", &str_partition<false>},
      {"rpartition", &str_partition<true>},
      {"replace", &str_replace},
      {"join", &str_join},
      {"center", &str_justify<Side::both>},
      {"ljust", &str_justify<Side::left>},
      {"rjust", &str_justify<Side::right>},
      {"zfill", &str_zfill},
      {"expandtabs", &str_expandtabs},
      {"removeprefix", &str_remove<false>},
      {"removesuffix", &str_remove<true>},
      {"format", &str_format},
      {"format_map", &str_format_map},
      {"encode", &str_encode},
  };
  if (const auto at = kMethods.find(name); at != kMethods.end()) return at->second;
  return find_string_query(name);
}

}  // namespace ridge::jinja
