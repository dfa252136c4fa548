// JSON schemas: sampled texts against an independent validator, what is accepted and what not, and refusals by path.
#include "text/grammar/schema.h"

#include <charconv>

#include "base/rng.h"
#include "golden_dir.h"
#include "text/grammar/grammar_test_util.h"
#include "text/grammar/schema_twin.h"

namespace ridge::grammar {
namespace {

using testing::accepts;

std::shared_ptr<const Automaton> schema(const std::string& text) {
  const auto g = parse_json_schema(text);
  EXPECT_TRUE(g.has_value()) << (g ? "" : g.error().message) << "\n" << text;
  return g ? testing::automaton_of(*g) : nullptr;
}

std::string schema_error(const std::string& text) {
  const auto g = parse_json_schema(text);
  if (!g) return g.error().message;
  const auto a = compile(*g);
  return a ? "" : a.error().message;
}

// A text that the automaton accepts, by random bytes; after a while it prefers to close what is open.
std::string sample(const Automaton& a, uint64_t seed) {
  Machine m(a);
  ConfigId at = m.start();
  std::string out;
  for (uint64_t step = 0; step < 4'000; ++step) {
    std::vector<uint8_t> can;
    for (int b = 0; b < 256; ++b) {
      if (m.next(at, static_cast<uint8_t>(b)) != Machine::kDead) can.push_back(static_cast<uint8_t>(b));
    }
    const uint64_t bits = random_bits(seed, 3, step);
    if (m.ends(at) && (can.empty() || bits % 4 == 0 || step > 300)) return out;
    if (can.empty()) return "dead end behind " + out;
    uint8_t next = can[(bits >> 8) % can.size()];
    const std::string_view closers = "\"}]";
    if ((step > 300 && bits % 2 == 0) || bits % 8 == 1) {
      for (const char c : closers) {
        if (std::find(can.begin(), can.end(), static_cast<uint8_t>(c)) != can.end()) {
          next = static_cast<uint8_t>(c);
          break;
        }
      }
    }
    out += static_cast<char>(next);
    at = m.next(at, next);
  }
  return {};
}

const char* const kSchemas[] = {
    R"({})",
    R"(true)",
    R"({"type": "object"})",
    R"({"type": "array"})",
    R"({"type": ["string", "null"]})",
    R"({"type": "number"})",
    R"({"type": "boolean"})",
    R"({"enum": ["a", 1, 1.5, null, true, {"a": [1, "é\n"]}, []]})",
    R"({"const": {"a": "b\"c"}})",
    R"({"type": "integer", "enum": [1, 2, "x"]})",
    R"({"type": "string", "minLength": 2, "maxLength": 5})",
    R"({"type": "string", "minLength": 3})",
    R"({"type": "string", "maxLength": 0})",
    R"({"type": "string", "pattern": "^[a-c]{2}-[0-9]+$"})",
    R"({"type": "string", "pattern": "ab|^x"})",
    R"({"type": "string", "pattern": "^[^a-z]*$"})",
    R"({"type": "string", "pattern": "^(\"|\\\\|/){1,4}$"})",
    R"({"type": "string", "format": "date-time"})",
    R"({"type": "string", "format": "date"})",
    R"({"type": "string", "format": "time"})",
    R"({"type": "string", "format": "uuid"})",
    R"({"type": "string", "format": "ipv4"})",
    R"({"type": "string", "format": "email"})",
    R"({"type": "string", "format": "uri"})",
    R"({"type": "integer", "minimum": 3})",
    R"({"type": "integer", "minimum": -123, "maximum": 42})",
    R"({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1000})",
    R"({"type": "integer", "maximum": -7})",
    R"({"type": "integer", "minimum": 9223372036854775806})",
    R"({"type": "integer", "minimum": -9223372036854775808, "maximum": -9223372036854775807})",
    R"({"type": "number", "minimum": 0, "maximum": 1})",
    R"({"type": "number", "exclusiveMinimum": 0})",
    R"({"type": "number", "minimum": -1.5, "maximum": 2.5})",
    R"({"type": "number", "exclusiveMinimum": -2, "exclusiveMaximum": -1})",
    R"({"type": "number", "maximum": 0})",
    R"({"type": "array", "items": {"type": "integer"}})",
    R"({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 4})",
    R"({"type": "array", "prefixItems": [{"type": "integer"}, {"const": "x"}]})",
    R"({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}, {"const": 3}], "items": false, "minItems": 1})",
    R"({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 9}, "minItems": 3, "maxItems": 5})",
    R"({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 1})",
    R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]})",
    R"({"type": "object", "properties": {"a": true, "b": true, "c": true, "d": true}, "required": ["b", "d"], "additionalProperties": false})",
    R"({"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": {"type": "integer"}})",
    R"({"type": "object", "properties": {"ab": {"const": 1}, "abc": {"const": 2}, "b\"": {"const": 3}}, "additionalProperties": {"type": "boolean"}})",
    R"({"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}, "maxProperties": 2})",
    R"({"type": "object", "properties": {}, "additionalProperties": false})",
    R"({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}}, "minProperties": 2})",
    R"({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}}, "minProperties": 1, "maxProperties": 2})",
    R"({"type": "object", "patternProperties": {"^x[0-9]+$": {"type": "integer"}}, "additionalProperties": false})",
    R"({"type": "object", "properties": {"name": {"type": "string"}}, "patternProperties": {"^x-": {"type": "integer"}}, "required": ["name"]})",
    R"({"type": "object", "required": ["z"], "additionalProperties": {"type": "integer"}})",
    R"({"type": "object", "required": ["z"]})",
    R"({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 5}]})",
    R"({"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"], "anyOf": [{"properties": {"kind": {"const": "a"}}}, {"properties": {"kind": {"const": "b"}, "n": {"type": "integer"}}, "required": ["n"]}]})",
    R"({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]})",
    R"({"oneOf": [{"type": "object", "properties": {"t": {"const": 1}}, "required": ["t"]}, {"type": "object", "properties": {"t": {"const": 2}, "u": {"type": "null"}}, "required": ["t"]}]})",
    R"({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"type": "string"}, "a": {"minimum": 3}}, "required": ["b"]}]})",
    R"({"allOf": [{"type": ["integer", "string"]}, {"type": ["number", "null"]}], "minimum": 0, "maximum": 9})",
    R"({"$defs": {"color": {"enum": ["red", "green", "blue"]}}, "type": "object", "properties": {"c": {"$ref": "#/$defs/color"}}, "required": ["c"]})",
    R"({"type": "object", "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["value", "next"]})",
    R"({"$defs": {"n": {"type": "object", "properties": {"l": {"$ref": "#/$defs/n"}, "r": {"$ref": "#/$defs/n"}}, "additionalProperties": false}}, "$ref": "#/$defs/n"})",
    R"({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "null"}}})",
    R"({"$ref": "#/$defs/x", "description": "with a sibling", "minimum": 5, "$defs": {"x": {"type": "integer"}}})",
    R"({"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}})",
    R"({"title": "t", "x-note": 1, "type": "null", "default": 3, "examples": [1]})",
};

TEST(Schema, everything_sampled_is_valid) {
  size_t n_without_end = 0;
  const uint64_t n_samples = ridge::testing::fast_run() ? 5 : 40;
  for (const char* text : kSchemas) {
    const auto a = schema(text);
    ASSERT_NE(a, nullptr);
    twin::Validator validator(nlohmann::json::parse(text));
    for (uint64_t seed = 0; seed < n_samples; ++seed) {
      const std::string found = sample(*a, seed);
      if (found.empty()) {  // random letters do not always find what a pattern looks for
        ++n_without_end;
        continue;
      }
      const auto value = nlohmann::json::parse(found, nullptr, false);
      ASSERT_FALSE(value.is_discarded()) << text << "\n" << found;
      const std::string wrong = validator.check(value);
      ASSERT_EQ(wrong, "") << text << "\n" << found;
    }
  }
  EXPECT_LT(n_without_end, std::size(kSchemas) * n_samples / 20);
}

// GRM-16 (llama.cpp #7797): all texts of up to four characters, for bounds of every kind.
TEST(Schema, GRM_16_integer_bounds_are_exact) {
  struct Case {
    const char* bounds;
    long lo, hi;
  };
  const Case cases[] = {{R"("minimum": 3)", 3, 100000},
                        {R"("minimum": -123, "maximum": 42)", -123, 42},
                        {R"("exclusiveMinimum": -10, "exclusiveMaximum": 100)", -9, 99},
                        {R"("minimum": 7, "maximum": 7)", 7, 7},
                        {R"("maximum": -99)", -100000, -99},
                        {R"("minimum": 0, "maximum": 0)", 0, 0},
                        {R"("minimum": 99.5, "maximum": 1000.5)", 100, 1000}};
  const std::string letters = "-0123456789.e";
  for (const Case& c : cases) {
    const auto a = schema(std::string(R"({"type": "integer", )") + c.bounds + "}");
    std::vector<std::string> texts{""};
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i];
      if (text.size() < 4) {
        for (const char letter : letters) texts.push_back(text + letter);
      }
      long n = 0;
      const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
      const bool is_integer = ec == std::errc() && end == text.data() + text.size() && std::to_string(n) == text;
      ASSERT_EQ(accepts(a, text), is_integer && n >= c.lo && n <= c.hi) << c.bounds << " '" << text << "'";
    }
  }
  const auto extreme =
      schema(R"({"type": "integer", "minimum": -9223372036854775808, "maximum": 18446744073709551615})");
  EXPECT_TRUE(accepts(extreme, "-9223372036854775808"));
  EXPECT_FALSE(accepts(extreme, "-9223372036854775809"));
  EXPECT_TRUE(accepts(extreme, "18446744073709551615"));
  EXPECT_FALSE(accepts(extreme, "18446744073709551616"));
  EXPECT_NE(schema_error(R"({"type": "integer", "minimum": 5, "maximum": 4})").find("#/maximum"), std::string::npos);
}

// GRM-11 (llama.cpp #19051): what cannot be enforced is an error, never an unconstrained answer.
TEST(Schema, GRM_11_what_cannot_be_enforced_is_refused_with_its_path) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(3)", "#"},
      {R"({"type": "strin"})", "#/type"},
      {R"({"type": "object", "properties": {"a": {"not": {}}}})", "#/properties/a/not"},
      {R"({"type": "object", "properties": {"a/b": {"if": {}}}})", "#/properties/a~1b/if"},
      {R"({"type": "array", "uniqueItems": true})", "#/uniqueItems"},
      {R"({"type": "array", "contains": {}})", "#/contains"},
      {R"({"type": "array", "items": [{}]})", "#/items"},
      {R"({"type": "array", "minItems": 3, "maxItems": 2})", "#/maxItems"},
      {R"({"type": "array", "minItems": -1})", "#/minItems"},
      {R"({"type": "number", "multipleOf": 0.1})", "#/multipleOf"},
      {R"({"type": "number", "minimum": "1"})", "#/minimum"},
      {R"({"type": "number", "minimum": 0.1, "maximum": 0.9})", "#/maximum"},
      {R"#({"type": "string", "pattern": "(?=a)"})#", "#/pattern"},
      {R"({"type": "string", "pattern": "["})", "#/pattern"},
      {R"({"type": "string", "pattern": "a\\!"})", ""},
      {R"({"type": "string", "pattern": "a", "maxLength": 3})", "#/maxLength"},
      {R"({"type": "string", "format": "duration"})", "#/format"},
      {R"({"type": "string", "minLength": 4, "maxLength": 3})", "#/maxLength"},
      {R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})", "#/oneOf"},
      {R"({"anyOf": []})", "#/anyOf"},
      {R"({"anyOf": [{"type": "null"}, {"dependentRequired": {}}]})", "#/anyOf/1/dependentRequired"},
      {R"({"allOf": [{"pattern": "a"}, {"pattern": "b"}]})", "/pattern"},
      {R"({"allOf": [{"properties": {"a": true}, "additionalProperties": false}, {"properties": {"b": true}}]})",
       "additionalProperties"},
      {R"({"allOf": [{"type": "string"}, {"type": "null"}]})", "/type"},
      {R"({"$ref": "#/$defs/none"})", "#/$ref"},
      {R"({"$ref": "http://example.com/x"})", "#/$ref"},
      {R"({"$ref": "#"})", "no text of finite length"},
      {R"({"allOf": [{"$ref": "#"}]})", "too deep"},
      {R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})", "no text of finite length"},
      {R"({"enum": []})", "#/enum"},
      {R"({"enum": ["a"], "minLength": 3})", "#/minLength"},
      {R"({"type": "integer", "const": "a"})", "#/const"},
      {R"({"type": "object", "required": "a"})", "#/required"},
      {R"({"type": "object", "properties": []})", "#/properties"},
      {R"({"type": "object", "patternProperties": {"a": {}, "b": {}}})", "#/patternProperties"},
      {R"({"type": "object", "properties": {"xa": {}}, "patternProperties": {"^x": {}}})", "#/patternProperties"},
      {R"({"type": "object", "minProperties": 3})", "#/minProperties"},
      {R"({"strict": true})", "#/strict"},
      {R"({"type": "object")", "not JSON"},
  };
  for (const auto& [text, said] : cases) {
    const std::string error = schema_error(text);
    EXPECT_EQ(error.empty(), std::string(said).empty()) << text << "\n" << error;
    EXPECT_NE(error.find(said), std::string::npos) << text << "\n" << error;
  }
}

// GRM-12 (llama.cpp #25923).
TEST(Schema, GRM_12_an_object_without_properties_is_no_trap) {
  EXPECT_TRUE(accepts(schema(R"({"type": "object", "properties": {}})"), "{}"));
  const auto a =
      schema(R"({"type": "object", "properties": {"a": {"type": "object", "properties": {}}}, "required": ["a"]})");
  EXPECT_TRUE(accepts(a, R"({"a":{}})"));
}

// GRM-17 (llama.cpp #8073), GRM-18 (llama.cpp #16790).
TEST(Schema, GRM_17_18_references_reach_enums_lists_and_themselves) {
  const auto color = schema(
      R"({"type": "object", "properties": {"c": {"$ref": "#/$defs/c"}}, "required": ["c"], "$defs": {"c": {"enum": ["r", "g", "b"]}}})");
  EXPECT_TRUE(accepts(color, R"({"c":"g"})"));
  EXPECT_FALSE(accepts(color, R"({"c":{}})"));
  EXPECT_FALSE(accepts(color, R"({"c":"x"})"));
  const auto tree = schema(
      R"({"properties": {"tree": {"anyOf": [{"type": "object", "properties": {"l": {"$ref": "#/properties/tree"}, "r": {"$ref": "#/properties/tree/anyOf/1"}}, "required": ["l", "r"]}, {"type": "integer"}]}}, "required": ["tree"]})");
  EXPECT_TRUE(accepts(tree, R"({"tree":{"l":{"l":1,"r":2},"r":3}})"));
  EXPECT_FALSE(accepts(tree, R"({"tree":{"l":1,"r":{"l":1,"r":2}}})"));
}

// GRM-20 (llama.cpp #7789).
TEST(Schema, GRM_20_additional_properties_as_said) {
  const std::string listed = R"({"type": "object", "properties": {"a": {"type": "integer"}})";
  EXPECT_FALSE(accepts(schema(listed + "}"), R"({"a":1,"b":2})")) << "documented: only where asked for";
  EXPECT_TRUE(accepts(schema(listed + R"(, "additionalProperties": true})"), R"({"a":1,"b":"x"})"));
  EXPECT_FALSE(accepts(schema(listed + R"(, "additionalProperties": false})"), R"({"a":1,"b":2})"));
  const auto typed = schema(listed + R"(, "additionalProperties": {"type": "null"}})");
  EXPECT_TRUE(accepts(typed, R"({"a":1,"b":null})"));
  EXPECT_TRUE(accepts(typed, R"({"ab":null})"));
  EXPECT_FALSE(accepts(typed, R"({"a":null})")) << "a listed name is no additional one";
  EXPECT_FALSE(accepts(typed, "{\"\\u0061\":null}")) << "however it is spelled";
}

// GRM-21 (llama.cpp #7840).
TEST(Schema, GRM_21_properties_come_in_the_order_written) {
  const auto a = schema(
      R"({"type": "object", "properties": {"c": {"const": 1}, "a": {"enum": ["x", "y"]}, "b": {"type": "integer"}, "d": true, "e": true, "f": true}, "required": ["a", "e"]})");
  EXPECT_TRUE(accepts(a, R"({"c":1,"a":"x","b":2,"e":null})"));
  EXPECT_TRUE(accepts(a, "{\"a\": \"x\", \"e\": null}"));
  EXPECT_TRUE(accepts(a, "{\n  \"a\": \"x\",\n  \"e\": null\n}"));
  EXPECT_FALSE(accepts(a, R"({"a":"x","c":1,"e":null})"));
  EXPECT_FALSE(accepts(a, R"({"a":"x"})"));
}

TEST(Schema, hostile_schemas_are_refused_or_bounded) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(schema_error(deep).find("nested"), std::string::npos);
  std::string doubling = R"({"$ref": "#/$defs/d0", "$defs": {)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref": "#/$defs/d)" + std::to_string(i + 1) + "\"}";
    doubling += "\"d" + std::to_string(i) + R"(": {"type": "array", "prefixItems": [)" + next + "," + next + "]},";
  }
  EXPECT_EQ(schema_error(doubling + R"("d60": {"type": "null"}}})"), "");
  std::string merging = doubling;
  for (size_t at = 0; (at = merging.find(R"("type": "array", "prefixItems")", at)) != std::string::npos;)
    merging.replace(at, 30, R"("allOf")");
  EXPECT_NE(schema_error(merging + R"("d60": {"type": "null"}}})"), "");
  EXPECT_NE(
      schema_error(
          R"({"type": "array", "minItems": 90000, "items": {"type": "array", "minItems": 90000, "items": {"type": "array", "minItems": 90000}}})")
          .find("too large"),
      std::string::npos);
  EXPECT_NE(schema_error(R"({"type": "string", "pattern": "(a|b)*a(a|b){40}"})").find("too large"), std::string::npos);
  EXPECT_NE(schema_error(std::string(300'000, ' ')).find("at most"), std::string::npos);
  std::string wide = R"({"type": "object", "properties": {)";
  for (int i = 0; i < 2000; ++i) wide += (i > 0 ? "," : "") + fmt::format("\"name{}\": {{\"type\": \"integer\"}}", i);
  EXPECT_EQ(schema_error(wide + "}}"), "");
}

TEST(Schema, any_json_object_matches_objects_only) {
  const auto a = testing::automaton_of(any_json_object());
  EXPECT_TRUE(accepts(a, R"({"a":[1,{"b":"\ud83d\ude00"}]})"));
  EXPECT_FALSE(accepts(a, R"({"a":"\ud83d"})")) << "half a surrogate pair";
  EXPECT_FALSE(accepts(a, "[]"));
}

}  // namespace
}  // namespace ridge::grammar
