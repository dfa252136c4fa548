// Python's str algorithms, each byte keeping its origin. Everything here is linear in what it reads and makes.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

// Whether a character is among those to strip: white space, or the members of a set.
class CharSet {
 public:
  explicit CharSet(const Value& chars) : any_space_(chars.is_none() || chars.is_missing()) {
    if (any_space_) return;
    const std::string& s = chars.bytes();
    for (size_t i = 0; i < s.size();) {
      const Utf8Char c = utf8_read(s, i);
      members_.push_back(c.code);
      i += c.n_bytes;
    }
    std::sort(members_.begin(), members_.end());
  }
  bool has(char32_t c) const {
    return any_space_ ? is_space(c) : std::binary_search(members_.begin(), members_.end(), c);
  }

 private:
  const bool any_space_;
  std::vector<char32_t> members_;
};

size_t previous_char(std::string_view s, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<uint8_t>(s[at]) & 0xC0) == 0x80) --at;
  return at;
}

constexpr size_t kShortNeedle = 32;  // up to here the library's search costs little even at its worst

// Knuth, Morris and Pratt: the offset behind the first match, in the order that the two readers give; npos if there is
// none.
template <class TextAt, class NeedleAt>
size_t search(size_t n_text, size_t n_needle, TextAt&& text_at, NeedleAt&& needle_at) {
  std::vector<uint32_t> border(n_needle + 1, 0);
  for (size_t i = 1, k = 0; i < n_needle; ++i) {
    while (k > 0 && needle_at(i) != needle_at(k)) k = border[k];
    if (needle_at(i) == needle_at(k)) ++k;
    border[i + 1] = static_cast<uint32_t>(k);
  }
  for (size_t i = 0, k = 0; i < n_text; ++i) {
    while (k > 0 && text_at(i) != needle_at(k)) k = border[k];
    if (text_at(i) == needle_at(k)) ++k;
    if (k == n_needle) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

size_t find_bytes(std::string_view text, std::string_view needle, size_t from) {
  if (needle.size() <= kShortNeedle) return text.find(needle, from);
  if (from > text.size() || needle.size() > text.size() - from) return std::string_view::npos;
  const auto text_at = [&](size_t i) { return text[from + i]; };
  const auto needle_at = [&](size_t i) { return needle[i]; };
  const size_t end = search(text.size() - from, needle.size(), text_at, needle_at);
  return end == std::string_view::npos ? end : from + end - needle.size();
}

size_t rfind_bytes(std::string_view text, std::string_view needle) {
  if (needle.size() <= kShortNeedle) return text.rfind(needle);
  if (needle.size() > text.size()) return std::string_view::npos;
  const auto text_at = [&](size_t i) { return text[text.size() - 1 - i]; };
  const auto needle_at = [&](size_t i) { return needle[needle.size() - 1 - i]; };
  const size_t end = search(text.size(), needle.size(), text_at, needle_at);
  return end == std::string_view::npos ? end : text.size() - end;
}

MarkedText strip(Interpreter& in, const MarkedText& text, const Value& chars, bool left, bool right) {
  if (!chars.is_none() && !chars.is_missing() && !chars.is_string())
    raise("TypeError", "strip arg must be None or str");
  const CharSet set(chars);
  const std::string_view s = text.view();
  size_t from = 0, to = s.size();
  while (left && from < to) {
    const Utf8Char c = utf8_read(s, from);
    if (!set.has(c.code)) break;
    from += c.n_bytes;
  }
  while (right && to > from) {
    const size_t at = previous_char(s, to);
    if (!set.has(utf8_read(s, at).code)) break;
    to = at;
  }
  in.budget.make_bytes(to - from);
  in.budget.read_bytes(s.size());
  return text.slice(from, to - from);
}

MarkedText replace_all(Interpreter& in, const MarkedText& text, const MarkedText& from, const MarkedText& to,
                       int64_t max_count) {
  const std::string_view s = text.view();
  in.budget.read_bytes(s.size());
  uint64_t left = max_count < 0 ? UINT64_MAX : static_cast<uint64_t>(max_count);
  MarkedText out;
  uint64_t made = 0;
  const auto put = [&](const MarkedText& source, size_t at, size_t n) {
    made += n;
    if (made > in.budget.limits().output_bytes) in.budget.make_bytes(made);
    out.append(source, at, n);
  };
  size_t at = 0;
  if (from.empty()) {  // Python puts the new text between all characters
    in.budget.walk_chars(s.size());
    while (left > 0) {
      put(to, 0, to.size());
      --left;
      if (at >= s.size()) break;
      const size_t n = utf8_read(s, at).n_bytes;
      put(text, at, n);
      at += n;
    }
  } else {
    for (; left > 0; --left) {
      const size_t found = find_bytes(s, from.view(), at);
      if (found == std::string_view::npos) break;
      put(text, at, found - at);
      put(to, 0, to.size());
      in.budget.charge(1);
      at = found + from.size();
    }
  }
  put(text, at, s.size() - at);
  in.budget.make_bytes(out.size());
  return out;
}

std::vector<MarkedText> split_lines(Interpreter& in, const MarkedText& text, bool keep_ends) {
  std::vector<MarkedText> lines;
  const std::string_view s = text.view();
  in.budget.walk_chars(s.size());
  size_t begin = 0;
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    size_t end = i + c.n_bytes;
    if (is_line_break(c.code)) {
      if (c.code == '\r' && end < s.size() && s[end] == '\n') ++end;
      in.budget.make_object();
      lines.push_back(text.slice(begin, (keep_ends ? end : i) - begin));
      begin = end;
    }
    i = end;
  }
  if (begin < s.size()) lines.push_back(text.slice(begin, s.size() - begin));
  return lines;
}

Value join(Interpreter& in, const MarkedText& separator, const std::vector<Value>& items) {
  uint64_t n_bytes = 0;
  for (const Value& item : items) n_bytes += item.text().size() + separator.size();
  in.budget.make_bytes(n_bytes);
  in.budget.charge(items.size());
  MarkedText out;
  out.reserve(n_bytes);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out.append(separator);
    out.append(items[i].text());
  }
  return Value::string(std::move(out));
}

MarkedText spaces(Interpreter& in, int64_t n) {
  if (n <= 0) return {};
  in.budget.make_bytes(static_cast<uint64_t>(n));
  return MarkedText(std::string(static_cast<size_t>(n), ' '));
}

}  // namespace ridge::jinja
