// References, allOf as one schema, and whether the branches of oneOf exclude each other.
#include <algorithm>
#include <set>

#include "text/grammar/limits.h"
#include "text/grammar/schema_compiler.h"

namespace ridge::grammar {
namespace {

constexpr size_t kMaxMergedNodes = 300'000;  // values copied while merging: about a tenth of a second
constexpr size_t kMaxBranches = 200;         // of a oneOf: they are compared in pairs

std::string unescape(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    const auto digit = [&](size_t k) {
      const char c = k < token.size() ? token[k] : 'x';
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out += token[++i] == '0' ? '~' : '/';
    } else if (token[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      out += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      out += token[i];
    }
  }
  return out;
}

size_t n_nodes(const Json& j) {
  size_t n = 1;
  if (j.is_structured()) {
    for (const Json& child : j) n += n_nodes(child);
  }
  return n;
}

std::set<std::string> types_of(const Json& s) {
  std::set<std::string> out;
  if (!s.is_object()) return {"any"};
  if (s.contains("const") || s.contains("enum")) {
    const Json values = s.contains("const") ? Json::array({s["const"]}) : s["enum"];
    for (const Json& v : values) out.insert(v.is_number() ? "number" : v.type_name());
    return out;
  }
  if (!s.contains("type")) return {"any"};
  for (const Json& t : s["type"].is_array() ? s["type"] : Json::array({s["type"]}))
    out.insert(t == "integer" ? "number" : t.is_string() ? t.get<std::string>() : "any");
  return out;
}

std::vector<Json> values_of(const Json& s) {
  if (!s.is_object()) return {};
  if (s.contains("const")) return {s["const"]};
  if (s.contains("enum") && s["enum"].is_array()) return {s["enum"].begin(), s["enum"].end()};
  return {};
}

bool differ(const std::vector<Json>& a, const std::vector<Json>& b) {
  if (a.empty() || b.empty()) return false;
  return std::none_of(a.begin(), a.end(), [&b](const Json& v) { return std::find(b.begin(), b.end(), v) != b.end(); });
}

bool requires_name(const Json& s, const std::string& name) {
  return s.contains("required") && s["required"].is_array() &&
         std::find(s["required"].begin(), s["required"].end(), name) != s["required"].end();
}

// By type, by listed values, or by a property that both require with other values.
bool exclude_each_other(const Json& a, const Json& b) {
  const std::set<std::string> x = types_of(a), y = types_of(b);
  const bool any = x.count("any") + y.count("any") > 0;
  if (!any && std::none_of(x.begin(), x.end(), [&y](const std::string& t) { return y.count(t) > 0; })) return true;
  if (differ(values_of(a), values_of(b))) return true;
  if (x != std::set<std::string>{"object"} || y != x) return false;
  if (!a.contains("properties") || !b.contains("properties")) return false;
  for (const auto& [name, schema] : a["properties"].items()) {
    if (!b["properties"].contains(name) || !requires_name(a, name) || !requires_name(b, name)) continue;
    const Json& other = b["properties"][name];
    if (differ(values_of(schema), values_of(other))) return true;
    const std::set<std::string> s = types_of(schema), t = types_of(other);
    if (s.count("any") + t.count("any") == 0 &&
        std::none_of(s.begin(), s.end(), [&t](const std::string& v) { return t.count(v) > 0; }))
      return true;
  }
  return false;
}

Json type_list(const Json& t) {
  return t.is_array() ? t : Json::array({t});
}

// Types that both allow; "number" holds "integer".
Json both_types(const Json& a, const Json& b) {
  Json out = Json::array();
  const auto has = [](const Json& list, const char* t) { return std::find(list.begin(), list.end(), t) != list.end(); };
  const Json x = type_list(a), y = type_list(b);
  for (const Json& t : x) {
    if (!t.is_string()) continue;
    if (has(y, t.get<std::string>().c_str()) || (t == "integer" && has(y, "number"))) out.push_back(t);
    if (t == "number" && has(y, "integer") && !has(y, "number")) out.push_back("integer");
  }
  return out;
}

}  // namespace

Result<Place> SchemaCompiler::resolve(const Place& p) const {
  const Place at = p.at("$ref");
  if (!at.schema->is_string()) return schema_error(at.path, "expected a reference in a string");
  const auto& ref = at.schema->get_ref<const std::string&>();
  if (ref != "#" && !ref.starts_with("#/"))
    return schema_error(at.path, fmt::format("'{}' is not within this schema (#/...)", ref));
  Place out{&document_, "#"};
  for (size_t i = 2; i <= ref.size() && ref.size() > 1;) {
    const size_t end = std::min(ref.find('/', i), ref.size());
    const std::string token = unescape(std::string_view(ref).substr(i, end - i));
    const Json* next = nullptr;
    if (out.schema->is_object() && out.schema->contains(token)) next = &out.schema->at(token);
    if (out.schema->is_array() && !token.empty() && token.size() < 7 &&
        token.find_first_not_of("0123456789") == token.npos) {
      size_t index = 0;
      for (const char c : token) index = index * 10 + static_cast<size_t>(c - '0');
      if (index < out.schema->size()) next = &out.schema->at(index);
    }
    if (next == nullptr) return schema_error(at.path, fmt::format("'{}' leads nowhere: there is no '{}'", ref, token));
    out = {next, out.path + "/" + ref.substr(i, end - i)};
    i = end + 1;
  }
  return out;
}

// One schema that says what `a` and `b` say together.
Result<Json> SchemaCompiler::merged(const Json& a, const Json& b, const std::string& path, int depth) {
  if (depth > kMaxSchemaNesting) return schema_error(path, "schemas to merge nest too deep");
  n_merged_nodes_ += n_nodes(a) + n_nodes(b);
  if (n_merged_nodes_ > kMaxMergedNodes)
    return schema_error(path, "too much to merge here: allOf and $ref multiply each other");
  if (b.is_boolean()) return b.get<bool>() ? a : b;
  if (a.is_boolean()) return a.get<bool>() ? b : a;
  if (!a.is_object() || !b.is_object()) return schema_error(path, "expected a schema: an object, true or false");
  RIDGE_TRY(const Json x, flattened({&a, path}, depth + 1));
  RIDGE_TRY(const Json y, flattened({&b, path}, depth + 1));
  if (!x.is_object() || !y.is_object()) return merged(x, y, path, depth + 1);
  Json out = x;
  for (const auto& [key, value] : y.items()) {
    if (!out.contains(key) || out[key] == value) {
      out[key] = value;
      continue;
    }
    Json& mine = out[key];
    if (key == "type") {
      mine = both_types(mine, value);
      if (mine.empty()) return schema_error(path + "/type", "no type is left of those that must hold together");
    } else if (key == "required" && mine.is_array() && value.is_array()) {
      for (const Json& name : value) {
        if (std::find(mine.begin(), mine.end(), name) == mine.end()) mine.push_back(name);
      }
    } else if (key == "properties" && mine.is_object() && value.is_object()) {
      for (const auto& [name, schema] : value.items()) {
        mine[name] = mine.contains(name) ? Json{{"allOf", Json::array({mine[name], schema})}} : schema;
      }
    } else if (key == "items") {
      mine = Json{{"allOf", Json::array({mine, value})}};
    } else if (key == "enum" && mine.is_array() && value.is_array()) {
      Json left = Json::array();
      for (const Json& v : mine) {
        if (std::find(value.begin(), value.end(), v) != value.end()) left.push_back(v);
      }
      mine = left;
    } else if (key.starts_with("min") || key == "exclusiveMinimum") {
      if (mine.is_number() && value.is_number() && mine.get<double>() < value.get<double>()) mine = value;
    } else if (key.starts_with("max") || key == "exclusiveMaximum") {
      if (mine.is_number() && value.is_number() && mine.get<double>() > value.get<double>()) mine = value;
    } else if (key == "title" || key == "description" || key == "default" || key == "examples" || key == "$comment" ||
               key == "$defs" || key == "definitions" || key == "$id" || key == "$schema") {
    } else {
      return schema_error(path + "/" + key, "stands in two schemas that must hold together, and cannot be merged");
    }
  }
  // additionalProperties speaks of the properties beside it, not of those of the other schema.
  const auto closed = [](const Json& s) {
    return s.contains("additionalProperties") && s["additionalProperties"] != true;
  };
  const auto adds = [](const Json& s, const Json& other) {
    if (other.contains("patternProperties")) return true;
    if (!other.contains("properties")) return false;
    const auto items = other["properties"].items();
    return std::any_of(items.begin(), items.end(),
                       [&s](const auto& e) { return !s.contains("properties") || !s["properties"].contains(e.key()); });
  };
  if ((closed(x) && adds(x, y)) || (closed(y) && adds(y, x)))
    return schema_error(path + "/additionalProperties",
                        "cannot be merged with the further properties of the other schema");
  const bool open =
      (x.contains("additionalProperties") && !closed(x)) || (y.contains("additionalProperties") && !closed(y));
  if (open && !closed(x) && !closed(y)) out["additionalProperties"] = true;
  return out;
}

Result<Json> SchemaCompiler::flattened(const Place& p, int depth) {
  if (depth > kMaxSchemaNesting)
    return schema_error(p.path, "references and allOf nest too deep: do they go in a circle?");
  if (!p.schema->is_object() || (!p.schema->contains("$ref") && !p.schema->contains("allOf"))) return *p.schema;
  Json out = *p.schema;
  out.erase("$ref");
  out.erase("allOf");
  if (p.schema->contains("$ref")) {
    RIDGE_TRY(const Place target, resolve(p));
    RIDGE_TRY(out, merged(out, *target.schema, target.path, depth + 1));
  }
  if (p.schema->contains("allOf")) {
    const Json& parts = p.schema->at("allOf");
    if (!parts.is_array() || parts.empty())
      return schema_error(p.path + "/allOf", "expected a list of schemas, not empty");
    for (size_t i = 0; i < parts.size(); ++i) {
      RIDGE_TRY(out, merged(out, parts[i], fmt::format("{}/allOf/{}", p.path, i), depth + 1));
    }
  }
  return out;
}

Result<void> SchemaCompiler::check_disjoint(const Json& branches, const Place& p) {
  if (branches.size() > kMaxBranches)
    return schema_error(p.path + "/oneOf", fmt::format("more than {} branches", kMaxBranches));
  std::vector<Json> flat;
  for (size_t i = 0; i < branches.size(); ++i) {
    RIDGE_TRY(Json branch, flattened(p.at("oneOf", i), 0));
    flat.push_back(std::move(branch));
  }
  for (size_t i = 0; i < flat.size(); ++i) {
    for (size_t j = i + 1; j < flat.size(); ++j) {
      if (exclude_each_other(flat[i], flat[j])) continue;
      return schema_error(
          fmt::format("{}/oneOf", p.path),
          fmt::format("branches {} and {} may both hold: give them other types, or a required property with "
                      "other constants, or use anyOf",
                      i, j));
    }
  }
  return {};
}

}  // namespace ridge::grammar
