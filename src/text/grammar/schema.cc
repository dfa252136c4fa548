// The keywords that choose between schemas; strings, numbers, arrays and objects are in schema_types.cc.
#include "text/grammar/schema.h"

#include <algorithm>
#include <set>

#include "text/grammar/limits.h"
#include "text/grammar/schema_compiler.h"

namespace ridge::grammar {
namespace {

constexpr std::string_view kTypes[] = {"object", "array", "string", "integer", "number", "boolean", "null"};
constexpr std::string_view kAnnotations[] = {"title",      "description", "default",    "examples", "example",
                                             "$comment",   "$schema",     "$id",        "readOnly", "writeOnly",
                                             "deprecated", "$defs",       "definitions"};
// Keywords by the type that they speak of.
const std::map<std::string_view, std::vector<std::string_view>>& keywords_of() {
  static const std::map<std::string_view, std::vector<std::string_view>> table = {
      {"object",
       {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"}},
      {"array", {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}},
      {"string", {"minLength", "maxLength", "pattern", "format"}},
      {"number", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
  };
  return table;
}

template <class Table>
bool has(const Table& table, std::string_view key) {
  return std::find(std::begin(table), std::end(table), key) != std::end(table);
}

bool is_known(std::string_view key) {
  static constexpr std::string_view kGeneral[] = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"};
  if (has(kGeneral, key) || has(kAnnotations, key)) return true;
  return std::any_of(keywords_of().begin(), keywords_of().end(),
                     [key](const auto& row) { return has(row.second, key); });
}

// JSON's own nesting, before anything recurses on it.
Result<void> check_nesting(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxSchemaNesting)
      return fail(ErrorCode::limit, "JSON schema: nested more than {} deep", kMaxSchemaNesting);
  }
  return {};
}

std::string escape_pointer(std::string_view key) {
  std::string out;
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

}  // namespace

tl::unexpected<Error> schema_error(const std::string& path, std::string_view what) {
  return fail(ErrorCode::invalid_argument, "JSON schema, {}: {}", path, what);
}

Place Place::at(std::string_view key) const {
  return {&schema->at(std::string(key)), path + "/" + escape_pointer(key)};
}
Place Place::at(std::string_view key, size_t index) const {
  return {&schema->at(std::string(key)).at(index), fmt::format("{}/{}/{}", path, escape_pointer(key), index)};
}

Result<uint32_t> count_keyword(const Place& p, std::string_view key, uint32_t absent) {
  if (!p.schema->contains(key)) return absent;
  const Place at = p.at(key);
  const double d = at.schema->is_number() ? at.schema->get<double>() : -1;
  if (d < 0 || d != static_cast<double>(static_cast<uint64_t>(std::min(d, 1e15))))
    return schema_error(at.path, "expected a whole number of at least 0");
  if (d > kMaxRepeat) {
    if (absent == kNoMax) return kNoMax;  // a maximum that no answer reaches
    return schema_error(at.path, fmt::format("at most {}", kMaxRepeat));
  }
  return static_cast<uint32_t>(d);
}

const Json* SchemaCompiler::keep(Json schema) {
  made_.push_back(std::make_unique<Json>(std::move(schema)));
  return made_.back().get();
}

Result<Grammar> SchemaCompiler::run() {
  const Place root{&document_, "#"};
  rules_["#"] = grammar_.anonymous("#", kNoExpr);
  RIDGE_TRY(const ExprId body, compile(root, 0));
  grammar_.define(rules_["#"], body);
  grammar_.root = rules_["#"];
  return std::move(grammar_);
}

Result<ExprId> SchemaCompiler::compile(const Place& p, int depth) {
  if (depth > kMaxSchemaNesting)
    return schema_error(p.path, fmt::format("nested more than {} deep", kMaxSchemaNesting));
  if (grammar_.n_exprs() > kMaxParts) return fail(ErrorCode::limit, "JSON schema: too large");
  if (p.schema->is_boolean()) return p.schema->get<bool>() ? texts_.any_value() : grammar_.nothing();
  if (!p.schema->is_object()) return schema_error(p.path, "expected a schema: an object, true or false");
  for (const auto& [key, value] : p.schema->items()) {
    if (is_known(key) || key.starts_with("x-")) continue;
    return schema_error(p.path + "/" + escape_pointer(key), "this keyword cannot be enforced; remove it to go without");
  }
  return compile_object(p, depth);
}

Result<ExprId> SchemaCompiler::compile_object(const Place& p, int depth) {
  const Json& s = *p.schema;
  const auto is_alone = [&s](std::string_view but) {
    return std::all_of(s.items().begin(), s.items().end(), [but](const auto& entry) {
      return entry.key() == but || has(kAnnotations, entry.key()) || entry.key().starts_with("x-");
    });
  };
  if (s.contains("$ref") && is_alone("$ref")) return reference(p);
  if (s.contains("$ref") || s.contains("allOf")) {
    RIDGE_TRY(Json flat, flattened(p, depth));
    return compile({keep(std::move(flat)), p.path}, depth + 1);
  }
  if (s.contains("enum") || s.contains("const")) return enumerated(p);
  if (s.contains("anyOf")) return alternatives(p, "anyOf", depth);
  if (s.contains("oneOf")) return alternatives(p, "oneOf", depth);
  return typed(p, depth);
}

// Each place that is referred to is one rule, so that recursion ends and nothing is written out twice.
Result<ExprId> SchemaCompiler::reference(const Place& p) {
  RIDGE_TRY(const Place target, resolve(p));
  if (const auto known = rules_.find(target.path); known != rules_.end()) return grammar_.rule(known->second);
  if (rules_.size() > kMaxRules) return schema_error(p.path, fmt::format("more than {} references", kMaxRules));
  const RuleId rule = grammar_.anonymous(target.path, kNoExpr);
  rules_[target.path] = rule;
  static constexpr int kDepthOfReference = 1;
  if (++n_open_references_ > kMaxSchemaNesting) return schema_error(p.path, "references nest too deep");
  auto body = compile(target, kDepthOfReference);
  --n_open_references_;
  if (!body) return tl::unexpected<Error>(std::move(body.error()));
  grammar_.define(rule, *body);
  return grammar_.rule(rule);
}

Result<ExprId> SchemaCompiler::alternatives(const Place& p, std::string_view key, int depth) {
  const Json& branches = p.schema->at(std::string(key));
  const std::string path = p.path + "/" + std::string(key);
  if (!branches.is_array() || branches.empty()) return schema_error(path, "expected a list of schemas, not empty");
  if (key == "oneOf") RIDGE_CHECK_OK(check_disjoint(branches, p));
  Json rest = *p.schema;
  rest.erase(std::string(key));
  const bool has_rest = std::any_of(rest.items().begin(), rest.items().end(), [](const auto& e) {
    return !has(kAnnotations, e.key()) && !e.key().starts_with("x-");
  });
  std::vector<ExprId> parts;
  for (size_t i = 0; i < branches.size(); ++i) {
    const Place branch = p.at(key, i);
    if (!has_rest) {
      RIDGE_TRY(const ExprId part, compile(branch, depth + 1));
      parts.push_back(part);
      continue;
    }
    RIDGE_TRY(Json both, merged(rest, *branch.schema, branch.path, depth + 1));
    RIDGE_TRY(const ExprId part, compile({keep(std::move(both)), branch.path}, depth + 1));
    parts.push_back(part);
  }
  return grammar_.alt(parts);
}

Result<ExprId> SchemaCompiler::enumerated(const Place& p) {
  const Json& s = *p.schema;
  const char* key = s.contains("const") ? "const" : "enum";
  if (s.contains("const") && s.contains("enum")) {
    const Json& all = s["enum"];
    if (!all.is_array() || std::find(all.begin(), all.end(), s["const"]) == all.end())
      return schema_error(p.path + "/const", "is none of the values of enum beside it");
  }
  std::vector<Json> values;
  if (key == std::string_view("const")) {
    values.push_back(s["const"]);
  } else {
    if (!s["enum"].is_array() || s["enum"].empty())
      return schema_error(p.path + "/enum", "expected a list of values, not empty");
    values.assign(s["enum"].begin(), s["enum"].end());
  }
  for (const auto& [other, value] : s.items()) {
    if (other == "type" || other == "enum" || other == "const" || has(kAnnotations, other) || other.starts_with("x-"))
      continue;
    return schema_error(p.path + "/" + escape_pointer(other),
                        fmt::format("cannot be checked beside {}; leave one out", key));
  }
  std::vector<ExprId> parts;
  for (const Json& v : values) {
    const std::string_view type = v.is_object()         ? "object"
                                  : v.is_array()        ? "array"
                                  : v.is_string()       ? "string"
                                  : v.is_boolean()      ? "boolean"
                                  : v.is_null()         ? "null"
                                  : v.is_number_float() ? "number"
                                                        : "integer";
    const auto fits = [type](const Json& t) { return t == type || (t == "number" && type == "integer"); };
    bool ok = !s.contains("type");
    if (!ok && s["type"].is_array()) ok = std::any_of(s["type"].begin(), s["type"].end(), fits);
    if (!ok && s["type"].is_string()) ok = fits(s["type"]);
    if (ok) parts.push_back(grammar_.text(v.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
  if (parts.empty()) return schema_error(p.path + "/" + key, "no value is of the type beside it");
  return grammar_.alt(parts);
}

Result<ExprId> SchemaCompiler::typed(const Place& p, int depth) {
  const Json& s = *p.schema;
  std::vector<std::string> types;
  if (!s.contains("type")) {
    // Keywords of a type say that it is meant; the standard would let every other type pass unchecked.
    for (const auto& [type, keywords] : keywords_of()) {
      if (std::any_of(keywords.begin(), keywords.end(), [&s](std::string_view k) { return s.contains(k); }))
        types.emplace_back(type);
    }
    if (types.empty()) return texts_.any_value();
  } else if (s["type"].is_string()) {
    types.push_back(s["type"].get<std::string>());
  } else if (s["type"].is_array() && !s["type"].empty()) {
    for (const Json& t : s["type"]) types.push_back(t.is_string() ? t.get<std::string>() : t.dump());
  } else {
    return schema_error(p.path + "/type", "expected a type's name or a list of them");
  }
  std::vector<ExprId> parts;
  for (const std::string& type : types) {
    if (!has(kTypes, type)) return schema_error(p.path + "/type", fmt::format("'{}' is no type of JSON schema", type));
    RIDGE_TRY(const ExprId part, of_type(type, p, depth));
    parts.push_back(part);
  }
  return grammar_.alt(parts);
}

Result<ExprId> SchemaCompiler::of_type(std::string_view type, const Place& p, int depth) {
  if (type == "object") return object(p, depth);
  if (type == "array") return array(p, depth);
  if (type == "string") return string(p);
  if (type == "integer" || type == "number") return number(p, type == "integer");
  if (type == "boolean") return grammar_.alt({grammar_.text("true"), grammar_.text("false")});
  return grammar_.text("null");
}

Result<Grammar> parse_json_schema(std::string_view schema) {
  if (schema.size() > kMaxSchemaBytes)
    return fail(ErrorCode::limit, "the JSON schema has {} bytes, at most {}", schema.size(), kMaxSchemaBytes);
  RIDGE_CHECK_OK(check_nesting(schema));
  Json document = Json::parse(schema, nullptr, false);
  if (document.is_discarded()) return fail(ErrorCode::invalid_argument, "the JSON schema is not JSON");
  return SchemaCompiler(std::move(document)).run();
}

Grammar any_json_object() {
  Grammar g;
  JsonTexts texts(g);
  const ExprId body = texts.any_object();
  g.root = g.anonymous("json object", body);
  return g;
}

}  // namespace ridge::grammar
