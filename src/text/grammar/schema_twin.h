// Tests only: whether a JSON value satisfies a schema, by the standard's words, keyword by keyword. Shares nothing with
// the compiler; patterns are POSIX extended expressions (regcomp), formats are looked at character by character.
#pragma once

#include <regex.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/utf8.h"

namespace ridge::grammar::twin {

class Validator {
 public:
  explicit Validator(nlohmann::json schema) : root_(std::move(schema)) {}
  // "" when valid, else what is wrong.
  std::string check(const nlohmann::json& value) { return check(root_, value); }

 private:
  using J = nlohmann::json;

  static bool is_type(const std::string& t, const J& v) {
    if (t == "integer")
      return v.is_number_integer() || (v.is_number_float() && std::floor(v.get<double>()) == v.get<double>());
    if (t == "number") return v.is_number();
    return t == v.type_name();
  }

  static bool finds(const std::string& pattern, const std::string& text) {
    regex_t re;
    if (regcomp(&re, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
    const bool ok = regexec(&re, text.c_str(), 0, nullptr, 0) == 0;
    regfree(&re);
    return ok;
  }

  static size_t n_chars(const std::string& s) {
    size_t n = 0;
    for (size_t i = 0; i < s.size(); i += utf8_read(s, i).n_bytes) ++n;
    return n;
  }

  static bool is_format(const std::string& f, const std::string& s) {
    static const std::string date = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
    static const std::string time =
        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
    if (f == "date")
      return finds("^" + date + "$", s) && s.substr(5) != "02-30" && s.substr(5) != "02-31" && s.substr(5) != "04-31";
    if (f == "time") return finds("^" + time + "$", s);
    if (f == "date-time") return finds("^" + date + "T" + time + "$", s);
    if (f == "uuid") return finds("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", s);
    if (f == "ipv4") return finds("^((25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})(\\.|$)){4}$", s) && s.back() != '.';
    if (f == "email") return finds("^[^@ .]+(\\.[^@ .]+)*@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*$", s);
    if (f == "uri") return finds("^[a-z]+://[^ ]+$", s);
    return false;
  }

  std::string check(const J& s, const J& v) {
    if (s.is_boolean()) return s.get<bool>() ? "" : "false allows nothing";
    if (s.contains("$ref")) {
      std::string ref = s["$ref"];
      if (const size_t percent = ref.find("%25"); percent != ref.npos) ref.replace(percent, 3, "%");
      if (const auto e = check(ref == "#" ? root_ : root_.at(J::json_pointer(ref.substr(1))), v); !e.empty()) return e;
    }
    if (s.contains("type")) {
      bool ok = false;
      for (const J& t : s["type"].is_array() ? s["type"] : J::array({s["type"]})) ok = ok || is_type(t, v);
      if (!ok) return "type of " + v.dump();
    }
    if (s.contains("const") && s["const"] != v) return "const";
    if (s.contains("enum") && std::find(s["enum"].begin(), s["enum"].end(), v) == s["enum"].end()) return "enum";
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
      if (!s.contains(key)) continue;
      size_t n = 0;
      for (const J& branch : s[key]) n += check(branch, v).empty();
      const std::string k = key;
      if (k == "anyOf" ? n == 0 : k == "oneOf" ? n != 1 : n != s[key].size()) return k + ": " + std::to_string(n);
    }
    if (v.is_number()) return number(s, v);
    if (v.is_string()) return string(s, v);
    if (v.is_array()) return array(s, v);
    if (v.is_object()) return object(s, v);
    return "";
  }

  static std::string number(const J& s, const J& v) {
    // As long double: 64 bits of it are exact.
    const auto wide = [](const J& x) {
      return x.is_number_unsigned()  ? static_cast<long double>(x.get<uint64_t>())
             : x.is_number_integer() ? static_cast<long double>(x.get<int64_t>())
                                     : static_cast<long double>(x.get<double>());
    };
    if (s.contains("minimum") && wide(v) < wide(s["minimum"])) return "minimum " + v.dump();
    if (s.contains("maximum") && wide(v) > wide(s["maximum"])) return "maximum " + v.dump();
    if (s.contains("exclusiveMinimum") && wide(v) <= wide(s["exclusiveMinimum"])) return "exclusiveMinimum " + v.dump();
    if (s.contains("exclusiveMaximum") && wide(v) >= wide(s["exclusiveMaximum"])) return "exclusiveMaximum " + v.dump();
    return "";
  }

  static std::string string(const J& s, const J& v) {
    const auto& text = v.get_ref<const std::string&>();
    if (s.contains("minLength") && n_chars(text) < s["minLength"].get<size_t>()) return "minLength";
    if (s.contains("maxLength") && n_chars(text) > s["maxLength"].get<size_t>()) return "maxLength";
    if (s.contains("pattern") && !finds(s["pattern"], text)) return "pattern " + v.dump();
    if (s.contains("format") && !is_format(s["format"], text)) return "format " + v.dump();
    return "";
  }

  std::string array(const J& s, const J& v) {
    if (s.contains("minItems") && v.size() < s["minItems"].get<size_t>()) return "minItems";
    if (s.contains("maxItems") && v.size() > s["maxItems"].get<size_t>()) return "maxItems";
    const size_t n_prefix = s.contains("prefixItems") ? s["prefixItems"].size() : 0;
    for (size_t i = 0; i < v.size(); ++i) {
      std::string e;
      if (i < n_prefix) {
        e = check(s["prefixItems"][i], v[i]);
      } else if (s.contains("items")) {
        e = check(s["items"], v[i]);
      }
      if (!e.empty()) return "[" + std::to_string(i) + "] " + e;
    }
    return "";
  }

  std::string object(const J& s, const J& v) {
    if (s.contains("minProperties") && v.size() < s["minProperties"].get<size_t>()) return "minProperties";
    if (s.contains("maxProperties") && v.size() > s["maxProperties"].get<size_t>()) return "maxProperties";
    if (s.contains("required")) {
      for (const std::string name : s["required"]) {
        if (!v.contains(name)) return "required " + name;
      }
    }
    for (const auto& [name, value] : v.items()) {
      bool listed = false;
      std::string e;
      if (s.contains("properties") && s["properties"].contains(name))
        listed = true, e = check(s["properties"][name], value);
      if (s.contains("patternProperties")) {
        for (const auto& [pattern, schema] : s["patternProperties"].items()) {
          if (finds(pattern, name)) listed = true, e += check(schema, value);
        }
      }
      if (!listed && s.contains("additionalProperties")) e = check(s["additionalProperties"], value);
      if (!e.empty()) return name + ": " + e;
    }
    return "";
  }

  J root_;
};

}  // namespace ridge::grammar::twin
