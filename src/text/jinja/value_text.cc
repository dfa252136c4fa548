// Owns how values become text: Python's repr and str. Floats take the shortest digits that read back as the same
// number, with an exponent outside 1e-4 .. 1e16, as CPython prints them.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "text/jinja/objects.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

class Printer {
 public:
  Printer(std::string& out, Budget& budget) : out_(out), budget_(budget) {}

  void print(const Value& v) {
    budget_.charge(1);
    if (out_.size() > budget_.limits().output_bytes)
      raise_limit("a printed value passes {} bytes", budget_.limits().output_bytes);
    switch (v.kind()) {
      case Kind::missing:
      case Kind::undefined:
        out_ += "Undefined";
        return;
      case Kind::none:
        out_ += "None";
        return;
      case Kind::boolean:
        out_ += v.as_bool() ? "True" : "False";
        return;
      case Kind::integer:
        fmt::format_to(std::back_inserter(out_), "{}", v.as_int());
        return;
      case Kind::real:
        out_ += format_real(v.as_real());
        return;
      case Kind::string:
        print_string(v);
        return;
      case Kind::list:
        print_items(v.items(), "[", "]");
        return;
      case Kind::tuple:
        print_items(v.items(), "(", v.items().size() == 1 ? ",)" : ")");
        return;
      case Kind::dict:
        print_entries(v.as_dict().entries);
        return;
      case Kind::object:
        print_object(v);
        return;
    }
  }

 private:
  void print_string(const Value& v) {
    budget_.walk_chars(v.text().size());
    if (v.str().markup) out_ += "Markup(";
    out_ += repr_of_string(v.bytes());
    if (v.str().markup) out_ += ")";
  }

  void print_items(const std::vector<Value>& items, const char* open, const char* close) {
    out_ += open;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += ", ";
      print(items[i]);
    }
    out_ += close;
  }

  void print_entries(const std::vector<std::pair<Value, Value>>& entries) {
    out_ += '{';
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i != 0) out_ += ", ";
      print(entries[i].first);
      out_ += ": ";
      print(entries[i].second);
    }
    out_ += '}';
  }

  void print_object(const Value& v) {
    auto out = std::back_inserter(out_);
    switch (v.object()->kind) {
      case ObjectKind::big_integer:
        out_ += v.get<BigIntegerObject>().digits;
        return;
      case ObjectKind::range: {
        const auto& r = v.get<RangeObject>();
        if (r.step == 1) {
          fmt::format_to(out, "range({}, {})", r.start, r.stop);
        } else {
          fmt::format_to(out, "range({}, {}, {})", r.start, r.stop, r.step);
        }
        return;
      }
      case ObjectKind::dict_view: {
        const auto& view = v.get<DictViewObject>();
        out_ += type_name(v) + "([";
        for (size_t i = 0; i < view.size(); ++i) {
          if (i != 0) out_ += ", ";
          print(view.at(i));
        }
        out_ += "])";
        return;
      }
      case ObjectKind::name_space:
        print_namespace(v.get<NamespaceObject>());
        return;
      case ObjectKind::loop: {
        const auto& loop = v.get<LoopObject>();
        fmt::format_to(out, "<LoopContext {}/{}>", loop.index0 + 1, loop.length.value_or(loop.index0 + 1));
        return;
      }
      // Python prints an address here; nothing can depend on it.
      default:
        fmt::format_to(out, "<{} object>", type_name(v));
        return;
    }
  }

  void print_namespace(const NamespaceObject& ns) {
    if (namespace_depth_ > 8) {  // a namespace may hold itself
      out_ += "<Namespace {...}>";
      return;
    }
    budget_.check_stack();
    ++namespace_depth_;
    out_ += "<Namespace {";
    for (size_t i = 0; i < ns.attributes.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += repr_of_string(ns.attributes[i].first) + ": ";
      print(ns.attributes[i].second);
    }
    out_ += "}>";
    --namespace_depth_;
  }

  std::string& out_;
  Budget& budget_;
  int namespace_depth_ = 0;
};

}  // namespace

std::string format_real(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    // "1.5e+16", at least two digits of exponent: to_chars writes it just so.
    return std::string(text);
  }
  const auto fixed_end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::fixed).ptr;
  std::string out(buffer, static_cast<size_t>(fixed_end - buffer));
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string repr_of_string(std::string_view s) {
  const bool has_single = s.find('\'') != std::string_view::npos, has_double = s.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < s.size();) {
    const Utf8Char c = utf8_read(s, i);
    const std::string_view raw = s.substr(i, c.n_bytes);
    i += c.n_bytes;
    auto to = std::back_inserter(out);
    if (c.code == static_cast<char32_t>(quote) || c.code == '\\') {
      out += '\\';
      out += static_cast<char>(c.code);
    } else if (c.code == '\n') {
      out += "\\n";
    } else if (c.code == '\r') {
      out += "\\r";
    } else if (c.code == '\t') {
      out += "\\t";
    } else if (is_printable(c.code)) {
      out += raw;
    } else if (c.code < 0x100) {
      fmt::format_to(to, "\\x{:02x}", static_cast<uint32_t>(c.code));
    } else if (c.code < 0x10000) {
      fmt::format_to(to, "\\u{:04x}", static_cast<uint32_t>(c.code));
    } else {
      fmt::format_to(to, "\\U{:08x}", static_cast<uint32_t>(c.code));
    }
  }
  out += quote;
  return out;
}

std::string repr(const Value& v, Budget& budget) {
  std::string out;
  Printer(out, budget).print(v);
  return out;
}

MarkedText to_text(const Value& v, Budget& budget) {
  if (v.is_string()) return v.text();
  if (v.is_undefined() || v.is_missing()) return {};
  if (v.is_object(ObjectKind::macro)) return MarkedText("<Macro>");
  return MarkedText(repr(v, budget), !has_untrusted(v, budget));
}

}  // namespace ridge::jinja
