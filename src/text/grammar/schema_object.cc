// Objects: the properties that are listed come in the order written, then others, where the schema allows them.
#include <algorithm>
#include <set>

#include "text/grammar/automaton.h"
#include "text/grammar/limits.h"
#include "text/grammar/machine.h"
#include "text/grammar/regex.h"
#include "text/grammar/schema_compiler.h"

namespace ridge::grammar {
namespace {

constexpr size_t kMaxCounted = 128;  // properties, where minProperties or maxProperties counts them

// Whether a pattern finds anything in a name.
Result<bool> finds(const std::string& pattern, const std::string& name, const std::string& path) {
  Grammar g;
  auto body = regex_expr(g, pattern, Anchoring::search);
  if (!body) return schema_error(path, body.error().message);
  g.root = g.anonymous("pattern", *body);
  auto a = compile(g);
  if (!a) return schema_error(path, a.error().message);
  Machine m(**a);
  ConfigId at = m.start();
  for (const char c : name) at = m.step(at, static_cast<uint8_t>(c));
  return m.ends(at);
}

}  // namespace

// Builds the rules "what may follow once properties before i were looked at and n written".
class ObjectRules {
 public:
  struct Property {
    ExprId pair;  // "name": value
    bool required;
  };
  ObjectRules(Grammar& g, JsonTexts& texts, std::vector<Property> listed, std::optional<ExprId> other, uint32_t min,
              uint32_t max, const std::string& path)
      : g_(g), texts_(texts), listed_(std::move(listed)), other_(other), min_(min), max_(max), path_(path) {
    // Without limits only "none yet" and "some" differ.
    cap_ = min == 0 && max == kNoMax ? 1 : static_cast<uint32_t>(listed_.size()) + 1;
  }

  ExprId all() { return from(0, 0); }

 private:
  ExprId from(size_t i, uint32_t n) {
    if (i == listed_.size()) return others(n);
    const auto [at, is_new] = rules_.try_emplace({i, n}, 0U);
    if (!is_new) return g_.rule(at->second);
    const RuleId rule = g_.anonymous(path_ + "/properties", kNoExpr);
    at->second = rule;
    std::vector<ExprId> ways;
    if (n < max_) {
      const ExprId pair = n > 0 ? g_.seq({texts_.comma(), listed_[i].pair}) : listed_[i].pair;
      ways.push_back(g_.seq({pair, from(i + 1, std::min(n + 1, cap_))}));
    }
    if (!listed_[i].required) ways.push_back(from(i + 1, n));
    g_.define(rule, g_.alt(ways));
    return g_.rule(rule);
  }

  ExprId others(uint32_t n) {
    const uint32_t least = min_ > n ? min_ - n : 0, most = max_ == kNoMax ? kNoMax : max_ > n ? max_ - n : 0;
    if (!other_ || most == 0) return least == 0 ? g_.empty() : g_.nothing();
    const ExprId further = g_.seq({texts_.comma(), *other_});
    if (n > 0) return g_.repeat(further, least, most);
    const ExprId some =
        g_.seq({*other_, g_.repeat(further, least > 0 ? least - 1 : 0, most == kNoMax ? kNoMax : most - 1)});
    return least == 0 ? g_.optional(some) : some;
  }

  Grammar& g_;
  JsonTexts& texts_;
  std::vector<Property> listed_;
  std::optional<ExprId> other_;
  uint32_t min_, max_, cap_;
  const std::string& path_;
  std::map<std::pair<size_t, uint32_t>, RuleId> rules_;
};

// The name and value of a property that is not listed; none where there can be none.
Result<std::optional<ExprId>> SchemaCompiler::other_property(const Place& p, const std::vector<std::string>& names,
                                                             int depth) {
  const Json& s = *p.schema;
  const Json* more = s.contains("additionalProperties") ? &s["additionalProperties"] : nullptr;
  const bool has_patterns = s.contains("patternProperties") && !s["patternProperties"].empty();
  const auto pair = [&](ExprId name, ExprId value) {
    return std::optional(grammar_.seq({name, grammar_.text(":"), texts_.space(), value}));
  };
  if (!has_patterns) {
    if (more == nullptr || *more == false) return std::optional<ExprId>();
    RIDGE_TRY(const ExprId value, compile(p.at("additionalProperties"), depth + 1));
    return pair(names.empty() ? texts_.any_string() : texts_.string_but(names), value);
  }
  const Place patterns = p.at("patternProperties");
  if (!patterns.schema->is_object()) return schema_error(patterns.path, "expected an object of schemas by pattern");
  if (more != nullptr && *more != false)
    return schema_error(p.path + "/additionalProperties",
                        "cannot be enforced beside patternProperties; only false can");
  if (patterns.schema->size() > 1)
    return schema_error(patterns.path, "more than one pattern cannot be enforced: a name may match several");
  const std::string pattern = patterns.schema->items().begin().key();
  for (const std::string& name : names) {
    RIDGE_TRY(const bool found, finds(pattern, name, patterns.path));
    if (found)
      return schema_error(patterns.path, fmt::format("the pattern matches '{}', which properties lists too", name));
  }
  auto content = regex_expr(grammar_, pattern, Anchoring::search);
  if (!content) return schema_error(patterns.path, content.error().message);
  RIDGE_TRY(const ExprId value, compile(patterns.at(pattern), depth + 1));
  return pair(texts_.string_of(*content), value);
}

Result<ExprId> SchemaCompiler::object(const Place& p, int depth) {
  const Json& s = *p.schema;
  std::set<std::string> required;
  if (s.contains("required")) {
    if (!s["required"].is_array()) return schema_error(p.path + "/required", "expected a list of names");
    for (const Json& name : s["required"]) {
      if (!name.is_string()) return schema_error(p.path + "/required", "expected a list of names");
      required.insert(name.get<std::string>());
    }
  }
  RIDGE_TRY(const uint32_t min, count_keyword(p, "minProperties", 0));
  RIDGE_TRY(const uint32_t max, count_keyword(p, "maxProperties", kNoMax));
  if (max < min) return schema_error(p.path + "/maxProperties", fmt::format("{} is below minProperties {}", max, min));
  if (s.contains("properties") && !s["properties"].is_object())
    return schema_error(p.path + "/properties", "expected an object of schemas by name");
  std::vector<ObjectRules::Property> listed;
  std::vector<std::string> names;
  const auto list = [&](const std::string& name, ExprId value) {
    const ExprId key = grammar_.text(Json(name).dump(-1, ' ', false, Json::error_handler_t::replace) + ":");
    // A rule of its own: it stands behind a comma and without one.
    const RuleId pair = grammar_.anonymous(p.path + "/properties/" + name, grammar_.seq({key, texts_.space(), value}));
    listed.push_back({grammar_.rule(pair), required.erase(name) > 0});
    names.push_back(name);
  };
  if (s.contains("properties")) {
    const Place properties = p.at("properties");
    for (const auto& [name, schema] : properties.schema->items()) {
      RIDGE_TRY(const ExprId value, compile(properties.at(name), depth + 1));
      list(name, value);
    }
  }
  // Required and not listed: what additionalProperties says, or any value.
  for (const std::string& name : std::set<std::string>(required)) {
    if (s.contains("patternProperties") && !s["patternProperties"].empty())
      return schema_error(p.path + "/required",
                          fmt::format("'{}' is not in properties; beside patternProperties it must be", name));
    ExprId value = texts_.any_value();
    if (s.contains("additionalProperties")) {
      RIDGE_TRY(value, compile(p.at("additionalProperties"), depth + 1));
    }
    list(name, value);
  }
  const bool is_bare =
      !s.contains("properties") && !s.contains("additionalProperties") && !s.contains("patternProperties");
  if (is_bare && names.empty() && min == 0 && max == kNoMax) return texts_.any_object();
  RIDGE_TRY(std::optional<ExprId> other, other_property(p, names, depth));
  if (is_bare && names.empty() && max > 0)
    other = grammar_.seq({texts_.any_string(), grammar_.text(":"), texts_.space(), texts_.any_value()});
  const auto n_required =
      static_cast<uint32_t>(std::count_if(listed.begin(), listed.end(), [](const auto& x) { return x.required; }));
  // Names outside the list may repeat, and a repeated name counts once.
  if (other && min > n_required + 1)
    return schema_error(p.path + "/minProperties",
                        "cannot be enforced where names are free, beyond one more than are required");
  const bool is_counted = min > n_required || max < listed.size() || (other && max != kNoMax);
  if (is_counted && listed.size() > kMaxCounted)
    return schema_error(
        p.path, fmt::format("minProperties and maxProperties are enforced for at most {} properties", kMaxCounted));
  const ExprId inside =
      ObjectRules(grammar_, texts_, std::move(listed), other, is_counted ? min : 0, is_counted ? max : kNoMax, p.path)
          .all();
  const ExprId full = texts_.list(grammar_.text("{"), inside, grammar_.text("}"));
  return full;
}

}  // namespace ridge::grammar
