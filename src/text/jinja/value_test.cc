// Values, their JSON, and the limits that hold whatever a template does.
#include <thread>

#include "text/jinja/jinja_test_util.h"
#include "text/jinja/objects.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja::testing {
namespace {

std::string printed(std::string_view json) {
  return render("{{ v }}", "{\"v\":" + std::string(json) + "}");
}

TEST(ValueFromJson, keeps_order_types_and_digits) {
  EXPECT_EQ(printed(R"({"z":1,"a":[true,null,1.0,-0.0,1e3],"m":{}})"),
            "{'z': 1, 'a': [True, None, 1.0, -0.0, 1000.0], 'm': {}}");
  EXPECT_EQ(printed("[9223372036854775807, -9223372036854775808]"), "[9223372036854775807, -9223372036854775808]");
  EXPECT_EQ(printed("[9223372036854775808, 18446744073709551616123, -9223372036854775809]"),
            "[9223372036854775808, 18446744073709551616123, -9223372036854775809]");
  EXPECT_EQ(printed(R"({"a":1,"b":2,"a":3})"), "{'a': 3, 'b': 2}");
  EXPECT_EQ(render("{{ v|tojson }}{{ v + 1 }}", R"({"v":18446744073709551615})"),
            "error: chat template, line 1: OverflowError: the integer result does not fit into 64 bits");
}

TEST(ValueFromJson, refuses_what_is_no_json) {
  for (const char* bad : {"", "{", "[1,]", "nul", "\"\xff\"", "\"\\ud800\"", "1 2", "{\"a\" 1}"}) {
    const auto v = value_from_json(bad);
    ASSERT_FALSE(v.has_value()) << bad;
    EXPECT_EQ(v.error().code, ErrorCode::invalid_argument);
  }
}

TEST(ValueFromJson, nests_to_the_limit_and_no_deeper) {
  EXPECT_TRUE(value_from_json(std::string(64, '[') + std::string(64, ']')).has_value());
  const auto deep = value_from_json(std::string(65, '[') + std::string(65, ']'));
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().message, "JSON: nested deeper than 64 levels");
  EXPECT_FALSE(value_from_json(std::string(10'000'000, '[')).has_value());
}

TEST(Value, long_dicts_find_what_short_ones_find) {
  std::vector<std::pair<Value, Value>> entries;
  for (int i = 0; i < 500; ++i)
    entries.emplace_back(Value::string(fmt::format("k{}", i * 7919 % 500)), Value::integer(i));
  entries.emplace_back(Value::integer(1), Value::string("one"));
  entries.emplace_back(Value::real(2.5), Value::string("half"));
  entries.emplace_back(Value::none(), Value::string("none"));
  entries.emplace_back(Value::tuple({Value::integer(1), Value::string("x")}), Value::string("tuple"));
  const Value dict = Value::dict(entries);
  for (const auto& [key, value] : entries) {
    const Value* found = dict.as_dict().find(key);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(compare_keys(*found, value), 0);
    EXPECT_TRUE(!key.is_string() || dict.as_dict().find(key.bytes()) == found);
  }
  EXPECT_EQ(dict.as_dict().find(Value::boolean(true))->bytes(), "one");
  EXPECT_EQ(dict.as_dict().find(Value::real(1.0))->bytes(), "one");
  EXPECT_EQ(dict.as_dict().find(Value::string("nope")), nullptr);
  EXPECT_EQ(dict.as_dict().find("1"), nullptr);
}

TEST(Value, floats_print_as_python_prints_them) {
  const std::pair<double, const char*> cases[] = {{0.1, "0.1"},       {1e15, "1000000000000000.0"},
                                                  {1e16, "1e+16"},    {123456789012345680.0, "1.2345678901234568e+17"},
                                                  {0.0001, "0.0001"}, {0.00001, "1e-05"},
                                                  {1e-7, "1e-07"},    {-2.5e-300, "-2.5e-300"},
                                                  {5e-324, "5e-324"}, {9007199254740993.0, "9007199254740992.0"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(format_real(value), text);
}

TEST(Value, integers_and_floats_compare_exactly) {
  EXPECT_EQ(render("{{ 9007199254740993 == 9007199254740992.0 }}{{ 9007199254740993 > 9007199254740992.0 }}{{ 2**62 < "
                   "1e300 }}{{ -1 < 'inf'|float }}"),
            "FalseTrueTrueTrue");
}

TEST(Render, errors_name_the_line_of_the_template) {
  EXPECT_EQ(render("a\n{% if true %}\n{{ none.x.y }}{% endif %}"),
            "error: chat template, line 3: UndefinedError: 'None' has no attribute 'x'");
  EXPECT_EQ(render("a\n\n{{ 1 + }}"),
            "error: chat template, line 3: TemplateSyntaxError: unexpected 'end of print statement'");
  EXPECT_EQ(render("{% set x =\n 1 +\n 'a' %}"),
            "error: chat template, line 2: TypeError: unsupported operand type(s) for +: 'int' and 'str'");
  EXPECT_EQ(render("\n{{ raise_exception('why not') }}"), "error: chat template, line 2: TemplateError: why not");
  EXPECT_EQ(render("{# x\n #}\n{{ nope() }}"), "error: chat template, line 3: UndefinedError: 'nope' is undefined");
}

TEST(Render, refuses_a_template_that_is_no_utf8_or_too_long) {
  EXPECT_FALSE(ChatTemplate::parse("a\xff").has_value());
  EXPECT_FALSE(ChatTemplate::parse(std::string((2u << 20) + 1, 'x')).has_value());
  EXPECT_TRUE(ChatTemplate::parse(std::string(2u << 20, 'x')).has_value());
}

TEST(Render, output_is_limited_at_the_limit_and_not_before) {
  RenderOptions options = options_at_now();
  options.limits.output_bytes = 1000;
  EXPECT_EQ(render(std::string(1000, 'x'), "{}", options).size(), 1000u);
  EXPECT_NE(render(std::string(1001, 'x'), "{}", options).find("the output passes the limit of 1000 bytes"),
            std::string::npos);
  EXPECT_EQ(render("{{ ('x' * 1000)|length }}", "{}", options), "1000");
  EXPECT_NE(render("{{ ('x' * 1001)|length }}", "{}", options).find("LimitError"), std::string::npos);
}

TEST(Render, steps_are_limited) {
  RenderOptions options = options_at_now();
  options.limits.steps = 1000;
  EXPECT_EQ(render("{% for i in range(100) %}x{% endfor %}", "{}", options).size(), 100u);
  EXPECT_NE(render("{% for i in range(10000) %}x{% endfor %}", "{}", options).find("budget of 1000 steps"),
            std::string::npos);
}

TEST(Render, range_is_limited_as_in_the_sandbox) {
  EXPECT_EQ(render("{{ range(100000)|length }}"), "100000");
  EXPECT_NE(render("{{ range(100001)|length }}").find("OverflowError"), std::string::npos);
  EXPECT_NE(render("{{ range(-9223372036854775807, 9223372036854775807) }}").find("OverflowError"), std::string::npos);
}

// Under the address sanitizer this is also the test that nothing is left behind.
TEST(Render, what_holds_itself_is_given_back) {
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.self = ns %}{% set ns.l = [ns, [ns]] %}{{ ns.l|length }}"),
            "2");
  EXPECT_EQ(
      render(
          "{% set ns = namespace() %}{% for i in [1,2] %}{% set ns.loop = loop %}{{ loop.changed(loop) }}{% endfor %}"),
      "TrueFalse");
  EXPECT_EQ(render("{% macro m() %}{{ n.f is callable }}{% endmacro %}{% set n = namespace(f=m) %}{{ m() }}"), "True");
  EXPECT_EQ(render("{% for i in [1] recursive %}{% set ns = namespace(l=loop) %}{% macro x() %}{{ ns.l.index }}{% "
                   "endmacro %}{{ x() }}{% endfor %}"),
            "1");
  EXPECT_EQ(render("{% macro m() %}{% set ns = namespace(c=caller) %}{% set ns.n = ns %}{{ ns.c() }}{% endmacro %}{% "
                   "call m() %}y{% endcall %}"),
            "y");
  EXPECT_EQ(render("{% set ns = namespace(p=none) %}{% for i in range(20000) %}{% set ns.p = namespace(p=ns.p) %}{% "
                   "endfor %}ok"),
            "ok");
}

TEST(Render, what_the_caller_passed_in_is_never_changed) {
  const auto variables = value_from_json(R"({"l":[1,2,3],"d":{"a":[1]}})");
  for (const char* source :
       {"{{ l.pop() }}", "{{ l.clear() }}", "{{ d.a.pop() }}", "{{ l.append(1) }}", "{{ d.update({}) }}"}) {
    const auto text = ChatTemplate::parse(source)->render(*variables, options_at_now());
    ASSERT_FALSE(text.has_value()) << source;
    EXPECT_NE(text.error().message.find("SecurityError: access to attribute"), std::string::npos)
        << text.error().message;
  }
  EXPECT_EQ(render("{% set x = [1, 2] %}{{ x.pop() }}{{ x }}"), "2[1]");
}

TEST(Render, one_template_serves_several_threads) {
  const auto tmpl = ChatTemplate::parse(
      "{% macro m(x) %}<{{ x }}>{% endmacro %}{% for i in range(200) %}{{ m(l[i % 3]) }}{% endfor %}");
  const auto variables = value_from_json(R"({"l":["a","b","c"]})");
  const auto expected = tmpl->render(*variables);
  ASSERT_TRUE(expected.has_value());
  std::vector<std::thread> threads;
  std::vector<std::string> got(4);
  for (size_t t = 0; t < 4; ++t) threads.emplace_back([&, t] { got[t] = *tmpl->render(*variables); });
  for (std::thread& t : threads) t.join();
  for (const std::string& text : got) EXPECT_EQ(text, *expected);
}

TEST(Render, tells_which_variables_a_template_reads) {
  const auto tmpl =
      ChatTemplate::parse("{% set own = 1 %}{{ own }}{% if tools %}{{ messages[0].enable_thinking }}{% endif %}");
  EXPECT_TRUE(tmpl->uses_variable("tools"));
  EXPECT_TRUE(tmpl->uses_variable("messages"));
  EXPECT_FALSE(tmpl->uses_variable("own"));
  EXPECT_FALSE(tmpl->uses_variable("enable_thinking"));
}

TEST(Render, variables_must_be_a_dict) {
  EXPECT_FALSE(ChatTemplate::parse("x")->render(Value::none()).has_value());
  EXPECT_FALSE(ChatTemplate::parse("x")->render(Value()).has_value());
}

TEST(Unicode, case_mappings_that_yield_several_characters) {
  std::string out;
  append_mapped(out, 0xDF, Case::upper);
  append_mapped(out, 0xDF, Case::title);
  append_mapped(out, 0x130, Case::lower);
  EXPECT_EQ(out, "SSSsi\xCC\x87");
}

}  // namespace
}  // namespace ridge::jinja::testing
