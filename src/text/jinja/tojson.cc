// json.dumps as Python writes it: ", " and ": " between, insertion order, ensure_ascii off unless asked for.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "text/jinja/filters.h"

namespace ridge::jinja {

namespace {

class JsonWriter {
 public:
  JsonWriter(Interpreter& in, std::string& out) : in_(in), out_(out) {}

  bool ensure_ascii = false, sort_keys = false;
  std::optional<std::string> indent;
  std::string item_separator = ", ", key_separator = ": ";

  void write(const Value& v, size_t level) {
    in_.budget.charge(1);
    check_size();
    switch (v.kind()) {
      case Kind::none:
        out_ += "null";
        return;
      case Kind::boolean:
        out_ += v.as_bool() ? "true" : "false";
        return;
      case Kind::integer:
        out_ += fmt::format("{}", v.as_int());
        return;
      case Kind::real:
        out_ += real(v.as_real());
        return;
      case Kind::string:
        string(v.bytes());
        return;
      case Kind::list:
      case Kind::tuple:
        return items(v.items(), level);
      case Kind::dict:
        return entries(v.as_dict().entries, level);
      default:
        break;
    }
    if (v.is_object(ObjectKind::big_integer)) {
      out_ += v.get<BigIntegerObject>().digits;
      return;
    }
    raise("TypeError", "Object of type {} is not JSON serializable", type_name(v));
  }

 private:
  void check_size() {
    if (out_.size() > in_.budget.limits().output_bytes) in_.budget.make_bytes(out_.size());
  }

  static std::string real(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return format_real(d);
  }

  void string(std::string_view s) {
    in_.budget.walk_chars(s.size() / 2);
    out_ += '"';
    for (size_t i = 0; i < s.size();) {
      const char c = s[i];
      if (static_cast<uint8_t>(c) < 0x80) {
        ++i;
        escaped(c);
        continue;
      }
      const Utf8Char u = utf8_read(s, i);
      if (ensure_ascii) {
        unit(u.code);
      } else {
        out_.append(s, i, u.n_bytes);
      }
      i += u.n_bytes;
    }
    out_ += '"';
  }

  void escaped(char c) {
    static constexpr std::string_view kFrom = "\"\\\n\r\t\f\b", kTo = "\"\\nrtfb";
    if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
      out_ += '\\';
      out_ += kTo[at];
    } else if (static_cast<uint8_t>(c) < 0x20) {
      out_ += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      out_ += c;
    }
  }

  void unit(char32_t c) {
    if (c < 0x10000) {
      out_ += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      const auto v = static_cast<uint32_t>(c) - 0x10000;
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (v >> 10), 0xDC00 + (v & 0x3FF));
    }
  }

  void line(size_t level) {
    if (!indent) return;
    out_ += '\n';
    in_.budget.charge(level * indent->size() / 32);
    for (size_t i = 0; i < level; ++i) out_ += *indent;
    check_size();
  }

  void items(const std::vector<Value>& list, size_t level) {
    if (list.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += item_separator;
      line(level + 1);
      write(list[i], level + 1);
    }
    line(level);
    out_ += ']';
  }

  void entries(const std::vector<std::pair<Value, Value>>& list, size_t level) {
    if (list.empty()) {
      out_ += "{}";
      return;
    }
    std::vector<std::pair<Value, Value>> sorted;
    if (sort_keys) {
      sorted = list;
      sort_values(in_, sorted, false);
    }
    out_ += '{';
    bool first = true;
    for (const auto& [key, value] : sort_keys ? sorted : list) {
      if (!first) out_ += item_separator;
      first = false;
      line(level + 1);
      key_text(key);
      out_ += key_separator;
      write(value, level + 1);
    }
    line(level);
    out_ += '}';
  }

  void key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::string:
        return string(key.bytes());
      case Kind::none:
        return string("null");
      case Kind::boolean:
        return string(key.as_bool() ? "true" : "false");
      case Kind::integer:
        return string(fmt::format("{}", key.as_int()));
      case Kind::real:
        return string(real(key.as_real()));
      default:
        raise("TypeError", "keys must be str, int, float, bool or None, not {}", type_name(key));
    }
  }

  Interpreter& in_;
  std::string& out_;
};

}  // namespace

std::string dump_json(Interpreter& in, const Value& v, const Value& ensure_ascii, const Value& indent,
                      const Value& separators, const Value& sort_keys) {
  std::string out;
  JsonWriter writer(in, out);
  writer.ensure_ascii = !ensure_ascii.is_missing() && truthy(ensure_ascii);
  writer.sort_keys = !sort_keys.is_missing() && truthy(sort_keys);
  if (!indent.is_missing() && !indent.is_none()) {
    writer.item_separator.assign(1, ',');
    writer.indent = indent.is_string() ? indent.bytes() : spaces(in, whole_number(indent, "")).bytes();
  }
  if (!separators.is_missing() && !separators.is_none()) {
    const std::vector<Value> pair = in.to_vector(separators);
    if (pair.size() != 2)
      raise("ValueError", "{} values to unpack (expected 2)", pair.size() < 2 ? "not enough" : "too many");
    writer.item_separator = string_argument(pair[0], "separator").bytes();
    writer.key_separator = string_argument(pair[1], "separator").bytes();
  }
  writer.write(v, 0);
  return out;
}

}  // namespace ridge::jinja
