#include "api/constraint.h"

#include <fmt/format.h>

namespace ridge::api {
namespace {

using Kind = Constraint::Kind;

// A second constraint is refused: which of the two should hold nobody can tell.
void set(Fields& f, Generation& g, std::string_view name, Constraint constraint) {
  if (g.constraint) return f.error(name, "a second constraint of one answer; expected one");
  g.constraint = std::move(constraint);
}

void read_text(Fields& f, Generation& g, std::string_view name, Kind kind) {
  std::string text;
  f.text(name, text);
  if (f.ok() && !text.empty()) set(f, g, name, {.kind = kind, .text = std::move(text), .choices = {}});
}

// A schema as an object, or (vLLM) as the text of one.
void set_schema(Fields& f, Generation& g, std::string_view name, const Json& v) {
  if (!v.is_object() && !v.is_string() && !v.is_boolean())
    return f.error(name, fmt::format("found {}, expected a JSON schema", shown(v)));
  set(f, g, name, {.kind = Kind::json_schema, .text = v.is_string() ? v.get<std::string>() : dump(v), .choices = {}});
}

void read_schema(Fields& f, Generation& g, std::string_view name) {
  if (const Json* v = f.value(name); v != nullptr) set_schema(f, g, name, *v);
}

void read_format(Fields& f, Generation& g) {
  constexpr std::string_view kName = "response_format";
  const Json* v = f.value(kName);
  if (v == nullptr) return;
  if (!v->is_object() || !v->contains("type")) {
    return f.error(kName, fmt::format("found {}, expected an object with a type", shown(*v)));
  }
  const Json& type = (*v)["type"];
  if (type == "text") return;
  if (type == "json_object" && !v->contains("schema")) {
    return set(f, g, kName, {.kind = Kind::json_object, .text = {}, .choices = {}});
  }
  const Json* holder = v;
  if (type == "json_schema") {
    holder = v->contains("json_schema") ? &(*v)["json_schema"] : nullptr;
  } else if (type != "json_object") {
    return f.error(kName, fmt::format("found type {}, expected text, json_object or json_schema", shown(type)));
  }
  if (holder == nullptr || !holder->is_object() || !holder->contains("schema"))
    return f.error(kName, "json_schema holds no schema: expected {\"name\": ..., \"schema\": {...}}");
  set_schema(f, g, kName, (*holder)["schema"]);
}

}  // namespace

void read_constraint(Fields& f, Generation& g) {
  read_format(f, g);
  read_schema(f, g, "json_schema");
  read_schema(f, g, "guided_json");
  read_text(f, g, "grammar", Kind::gbnf);
  read_text(f, g, "guided_grammar", Kind::gbnf);
  read_text(f, g, "guided_regex", Kind::regex);
  std::vector<std::string> choices;
  f.texts("guided_choice", choices, kMaxChoicesOfAnswer);
  if (f.ok() && !choices.empty())
    set(f, g, "guided_choice", {.kind = Kind::choices, .text = {}, .choices = std::move(choices)});
}

}  // namespace ridge::api
