// Positions are characters, as Python counts them; the search itself is by bytes.
#include "text/jinja/string_queries.h"

#include <algorithm>
#include <unordered_map>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

// s[start:end] as find() and its kin take them: byte offsets, and the characters before the first.
struct Range {
  size_t from = 0, to = 0;
  int64_t start_char = 0;
  bool valid = true;  // false: start lies beyond end, nothing is found, not even ""
};

Range range_of(const Value& self, const Value& start, const Value& end) {
  const StringObject& s = self.str();
  const auto n = static_cast<int64_t>(s.n_chars);
  const auto index = [&](const Value& v, int64_t absent) {
    if (v.is_missing() || v.is_none()) return absent;
    if (!v.is_whole()) raise("TypeError", "slice indices must be integers or None or have an __index__ method");
    const int64_t i = v.as_int();
    return i < 0 ? std::max<int64_t>(i < -n ? 0 : i + n, 0) : i;
  };
  const int64_t from = index(start, 0), to = std::min(index(end, n), n);
  Range out;
  out.valid = from <= to;
  if (!out.valid) return out;
  out.start_char = from;
  out.from = byte_offset(s.text.view(), s.n_chars, static_cast<size_t>(from));
  out.to = byte_offset(s.text.view(), s.n_chars, static_cast<size_t>(to));
  return out;
}

enum class Missing { minus_one, error };

template <bool kFromRight, Missing kMissing>
Value str_find(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"find", {"sub", "start", "end"}, 1}, args);
  const MarkedText& wanted = string_argument(a[0], "must be str, argument");
  in.budget.read_bytes(self.text().size());
  const Range r = range_of(self, a[1], a[2]);
  size_t at = std::string_view::npos;
  const std::string_view part = self.text().view().substr(r.from, r.to - r.from);
  if (r.valid) at = kFromRight ? rfind_bytes(part, wanted.view()) : find_bytes(part, wanted.view(), 0);
  if (at != std::string_view::npos) {
    return Value::integer(r.start_char + static_cast<int64_t>(count_chars(part.substr(0, at))));
  }
  if (kMissing == Missing::error) raise("ValueError", "substring not found");
  return Value::integer(-1);
}

Value str_count(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"count", {"sub", "start", "end"}, 1}, args);
  const MarkedText& wanted = string_argument(a[0], "must be str, argument");
  in.budget.read_bytes(self.text().size());
  const Range r = range_of(self, a[1], a[2]);
  if (!r.valid) return Value::integer(0);
  const std::string_view part = self.text().view().substr(r.from, r.to - r.from);
  if (wanted.empty()) return Value::integer(static_cast<int64_t>(count_chars(part)) + 1);
  int64_t n = 0;
  for (size_t at = 0; (at = find_bytes(part, wanted.view(), at)) != std::string_view::npos; at += wanted.size()) ++n;
  return Value::integer(n);
}

template <bool kEnd>
Value str_has_affix(Interpreter& in, const Value& self, Arguments& args) {
  const char* name = kEnd ? "endswith" : "startswith";
  const auto a = bind_arguments({name, {"affix", "start", "end"}, 1}, args);
  const Range r = range_of(self, a[1], a[2]);
  const std::string_view part = self.text().view().substr(r.from, r.to - r.from);
  const auto matches = [&](const Value& affix) {
    const std::string_view x = affix.bytes();
    in.budget.read_bytes(x.size());
    return r.valid && x.size() <= part.size() && part.substr(kEnd ? part.size() - x.size() : 0, x.size()) == x;
  };
  if (a[0].is_string()) return Value::boolean(matches(a[0]));
  if (!a[0].is(Kind::tuple)) {
    raise("TypeError", "{} first arg must be str or a tuple of str, not {}", name, type_name(a[0]));
  }
  in.budget.charge(a[0].items().size());
  for (const Value& affix : a[0].items()) {
    if (!affix.is_string()) raise("TypeError", "tuple for {} must only contain str, not {}", name, type_name(affix));
    if (matches(affix)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <bool (*kIs)(char32_t), bool kWhenEmpty>
Value str_all(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"is", {}, 0}, args);
  const std::string_view s = self.text().view();
  in.budget.walk_chars(s.size());
  if (s.empty()) return Value::boolean(kWhenEmpty);
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    if (!kIs(c.code)) return Value::boolean(false);
    i += c.n_bytes;
  }
  return Value::boolean(true);
}

bool is_ascii(char32_t c) {
  return c < 0x80;
}

template <bool kLower>
Value str_is_case(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"islower", {}, 0}, args);
  in.budget.walk_chars(self.text().size());
  return Value::boolean(every_cased_char_is(self.text().view(), kLower));
}

Value str_istitle(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"istitle", {}, 0}, args);
  const std::string_view s = self.text().view();
  in.budget.walk_chars(s.size());
  bool any = false, after_cased = false;
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    i += c.n_bytes;
    const bool begins = is_upper(c.code) || is_title(c.code), goes_on = is_lower(c.code);
    if ((begins && after_cased) || (goes_on && !after_cased)) return Value::boolean(false);
    after_cased = begins || goes_on;
    any |= after_cased;
  }
  return Value::boolean(any);
}

Value str_isidentifier(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"isidentifier", {}, 0}, args);
  const std::string_view s = self.text().view();
  in.budget.walk_chars(s.size());
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    if (i == 0 ? !is_identifier_start(c.code) : !is_identifier_part(c.code)) return Value::boolean(false);
    i += c.n_bytes;
  }
  return Value::boolean(!s.empty());
}

}  // namespace

bool every_cased_char_is(std::string_view s, bool lower) {
  bool any = false;
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    i += c.n_bytes;
    if (is_title(c.code) || (lower ? is_upper(c.code) : is_lower(c.code))) return false;
    any |= lower ? is_lower(c.code) : is_upper(c.code);
  }
  return any;
}

Method find_string_query(std::string_view name) {
  static const std::unordered_map<std::string_view, Method> kMethods = {
      {"find", &str_find<false, Missing::minus_one>},
      {"rfind", &str_find<true, Missing::minus_one>},
      {"index", &str_find<false, Missing::error>},
      {"rindex", &str_find<true, Missing::error>},
      {"count", &str_count},
      {"startswith", &str_has_affix<false>},
      {"endswith", &str_has_affix<true>},
      {"isalpha", &str_all<is_alpha, false>},
      {"isalnum", &str_all<is_alnum, false>},
      {"isdigit", &str_all<is_digit, false>},
      {"isdecimal", &str_all<is_decimal, false>},
      {"isnumeric", &str_all<is_numeric, false>},
      {"isspace", &str_all<is_space, false>},
      {"isprintable", &str_all<is_printable, true>},
      {"isascii", &str_all<is_ascii, true>},
      {"islower", &str_is_case<true>},
      {"isupper", &str_is_case<false>},
      {"istitle", &str_istitle},
      {"isidentifier", &str_isidentifier},
  };
  const auto at = kMethods.find(name);
  return at == kMethods.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
