// Public bug reports of this field, each with the behaviour that is right. The ids are those of the bug log.
#include <pthread.h>
#include <unistd.h>

#include <ctime>
#include <functional>

#include "golden_dir.h"
#include "text/jinja/jinja_test_util.h"
#include "text/jinja/messages.h"

namespace ridge::jinja::testing {
namespace {

// Of this thread's processor time: what other programs do meanwhile is no fault of a template.
double seconds(const std::function<void()>& f) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  f();
  return now() - start;
}

size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  size_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = 64u << 20;  // a sanitizer's frames are many times as large
constexpr double kSlack = 10;
#else
constexpr size_t kStackBytes = 1u << 20;
constexpr double kSlack = 1;
#endif

// Runs f on a thread whose stack is as small as a server's might be.
void on_small_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread;
  const auto body = [](void* p) -> void* {
    (*static_cast<const std::function<void()>*>(p))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, const_cast<std::function<void()>*>(&f)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string golden_template(const std::filesystem::path& golden, const std::string& name) {
  return read_json((golden / "chat_templates" / (name + ".json")).string())["template"].get<std::string>();
}

std::string repeat(std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Buglog, TPL_01_an_exception_of_the_template_is_the_answer) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const std::string variables =
      R"({"messages":[{"role":"user","content":"1"},{"role":"user","content":"2"},{"role":"user","content":"3"},)"
      R"({"role":"assistant","content":"4"},{"role":"assistant","content":"5"},{"role":"assistant","content":"6"}],)"
      R"("bos_token":"<s>","eos_token":"</s>","add_generation_prompt":true})";
  const std::string got = render(golden_template(golden, "mistralai-Ministral-3-14B-Reasoning-2512"), variables);
  EXPECT_NE(got.find("TemplateError: After the optional system message, conversation roles must alternate"),
            std::string::npos)
      << got;
}

TEST(Buglog, TPL_02_a_late_system_message_is_refused_in_the_templates_words) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const std::string variables =
      R"({"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"c"}],)"
      R"("add_generation_prompt":true})";
  const std::string got = render(golden_template(golden, "Qwen3.5-4B"), variables);
  EXPECT_NE(got.find("TemplateError: System message must be at the beginning."), std::string::npos) << got;
}

TEST(Buglog, TPL_04_an_empty_list_of_tool_calls_is_an_ordinary_turn) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto tmpl = ChatTemplate::parse(golden_template(golden, "meta-llama-Llama-3.1-8B-Instruct"));
  ASSERT_TRUE(tmpl.has_value());
  const auto messages = value_from_json(
      R"([{"role":"user","content":"hi"},{"role":"assistant","content":"hello","tool_calls":[]},{"role":"user","content":"bye"}])");
  const Value cleaned = drop_empty_tool_calls(*messages);
  const Value variables = Value::dict(
      {{Value::trusted_string("messages"), cleaned}, {Value::trusted_string("bos_token"), Value::string("<s>")}});
  const auto text = tmpl->render(variables, options_at_now());
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_NE(text->find("<|start_header_id|>assistant<|end_header_id|>\n\nhello<|eot_id|>"), std::string::npos) << *text;
}

TEST(Buglog, TPL_05_content_thinking_and_a_tool_call_give_text_or_an_error_that_names_the_field) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const std::string variables =
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"c","thinking":"t","tool_calls":)"
      R"([{"type":"function","function":{"name":"f","arguments":{"x":1}}}]},{"role":"tool","content":"r"}],"add_generation_prompt":true})";
  const std::string got = render(golden_template(golden, "openai-gpt-oss-120b"), variables);
  if (got.rfind("error: ", 0) == 0) {
    EXPECT_NE(got.find("content and thinking"), std::string::npos) << got;
  }
  const std::string without_thinking = render(
      golden_template(golden, "openai-gpt-oss-120b"),
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"c","tool_calls":)"
      R"([{"type":"function","function":{"name":"f","arguments":{"x":1}}}]},{"role":"tool","content":"r"}],"add_generation_prompt":true})");
  EXPECT_NE(without_thinking.find("<|channel|>analysis<|message|>c<|end|>"), std::string::npos) << without_thinking;
}

TEST(Buglog, TPL_06_a_full_reverse_slice_walks_backwards) {
  EXPECT_EQ(render("{% for m in messages[::-1] %}{{ m.role }}:{{ (messages|length - 1) - loop.index0 }};{% endfor %}",
                   R"({"messages":[{"role":"user"},{"role":"assistant"},{"role":"tool"}]})"),
            "tool:2;assistant:1;user:0;");
}

TEST(Buglog, TPL_07_a_negative_step_keeps_its_bounds) {
  EXPECT_EQ(render("{{ 'abcdef'[5:2:-1] }} ; {{ [0,1,2,3,4,5][4:1:-1] }}"), "fed ; [4, 3, 2]");
}

TEST(Buglog, TPL_09_break_ends_the_loop_and_continue_goes_on) {
  EXPECT_EQ(render("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif "
                   "%}{{ i }}{% endfor %}"),
            "023");
}

TEST(Buglog, TPL_12_tojson_escapes_no_letters_and_keeps_the_order) {
  const std::string variables = R"({"t":{"z":"한국어 🙂 <a> & 'q'","a":[1,2.0,null,true],"m":{}}})";
  EXPECT_EQ(render("{{ t|tojson }}", variables),
            R"({"z": "한국어 🙂 <a> & 'q'", "a": [1, 2.0, null, true], "m": {}})");
  EXPECT_EQ(render("{{ t.a|tojson(indent=2) }}", variables), "[\n  1,\n  2.0,\n  null,\n  true\n]");
}

TEST(Buglog, TPL_14_deep_templates_fail_fast_and_the_process_lives) {
  const std::string self_call = "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}";
  const std::string wide_call =
      "{% macro m(x) %}{{ [((((m(x) ~ 'a')|trim)|upper)|list)|join('-')] }}{% endmacro %}{{ m(1) }}";
  const std::vector<std::string> failing = {
      self_call,
      wide_call,
      "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{% call a() %}{% endcall %}{% endmacro %}{{ a() }}",
      "{{ " + repeat("(", 250) + "1" + repeat(")", 250) + " }}",
      "{{ " + repeat("[", 10000) + repeat("]", 10000) + " }}",
      "{{ " + repeat("not ", 10000) + "1 }}",
      "{{ " + repeat("-", 10000) + "1 }}",
      "{{ x" + repeat(".a", 10000) + " }}",
      "{{ x" + repeat("|list", 10000) + " }}",
      "{{ x" + repeat("()", 10000) + " }}",
      "{{ 1" + repeat(" if 1 else 1", 10000) + " }}",
      repeat("{% if 1 %}", 5000) + "x" + repeat("{% endif %}", 5000),
      repeat("{% for i in [1] %}", 5000) + repeat("{% endfor %}", 5000),
      "{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(5000) %}{% set ns.x = ns.x|map('string') %}{% endfor %}{{ "
      "ns.x|list }}",
      "{% for i in [[1]] recursive %}{{ loop([i]) }}{% endfor %}",
  };
  on_small_stack([&] {
    for (const std::string& source : failing) {
      std::string got;
      EXPECT_LT(seconds([&] { got = render(source); }), 0.1 * kSlack) << source.substr(0, 80);
      EXPECT_EQ(got.rfind("error: ", 0), 0u) << source.substr(0, 80) << got.substr(0, 80);
    }
    // What real templates need still works: just under the limits.
    EXPECT_EQ(render("{{ " + repeat("(", 150) + "1" + repeat(")", 150) + " }}"), "1");
    EXPECT_EQ(render(repeat("{% if 1 %}", 190) + "x" + repeat("{% endif %}", 190)), "x");
    RenderOptions options = options_at_now();
    options.limits.stack_bytes = kStackBytes * 3 / 4;
    EXPECT_EQ(
        render("{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{{ n % 10 }}{% endmacro %}{{ m(190)|length }}",
               "{}", options),
        "191");
    EXPECT_EQ(render("{{ 1" + repeat(" + 1", 20000) + " }}"), "20001");
    EXPECT_EQ(render("{% if 0 %}" + repeat("{% elif 0 %}", 5000) + "{% else %}y{% endif %}"), "y");
  });
}

TEST(Buglog, TPL_15_a_huge_range_or_string_is_refused_before_it_exists) {
  const size_t before = resident_bytes();
  const double took = seconds([] {
    EXPECT_NE(render("{% for i in range(1000000000) %}x{% endfor %}").find("OverflowError: Range too big"),
              std::string::npos);
    EXPECT_NE(render("{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor "
                     "%}{{ ns.s|length }}")
                  .find("LimitError"),
              std::string::npos);
    EXPECT_NE(render("{{ 'ab' * 1000000000000 }}").find("LimitError"), std::string::npos);
    EXPECT_NE(render("{{ [1] * 1000000000000 }}").find("LimitError"), std::string::npos);
    EXPECT_NE(render("{{ '%1000000000d' % 1 }}").find("error"), std::string::npos);
    EXPECT_NE(render("{{ 'x'.ljust(1000000000) }}").find("LimitError"), std::string::npos);
    EXPECT_NE(render("{{ 'x'|center(1000000000) }}").find("LimitError"), std::string::npos);
    EXPECT_NE(render("{{ 'a'|indent(1000000000, true) }}").find("LimitError"), std::string::npos);
    EXPECT_NE(render("{{ [[]]|tojson(indent=1000000000) }}").find("LimitError"), std::string::npos);
    EXPECT_NE(render("{{ '{:1000000000}'.format(1) }}").find("error"), std::string::npos);
    EXPECT_NE(render("{% set x = 'a' * 1000000 %}{% for i in range(100) %}{{ x }}{% endfor %}").find("LimitError"),
              std::string::npos);
    EXPECT_NE(render("{% set x = 'a' * 10000 %}{{ x.replace('a', x) }}").find("LimitError"), std::string::npos);
  });
  EXPECT_LT(took, 1.0 * kSlack);
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(resident_bytes(), before + (64u << 20));
#else
  (void)before;
#endif
}

TEST(Buglog, TPL_16_work_is_bounded_by_a_budget) {
  const std::vector<std::string> endless = {
      "{% for i in range(25000) %}{% for j in range(25000) %}x{% endfor %}{% endfor %}",
      "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
      "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% if 'b' in s %}{% endif %}{% endfor %}",
      "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s|upper %}{% endfor %}",
      "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}{% set x = s|upper|lower %}{% endfor %}",
      "{% set s = 'a ' * 1000000 %}{% for i in range(100000) %}{% set x = s.split() %}{% endfor %}",
      "{% set s = 'é,' * 1000000 %}{% for i in range(100000) %}{% set x = s|tojson %}{% endfor %}",
      "{% set s = 'é,' * 1000000 %}{% for i in range(100000) %}{% set x = [s]|string %}{% endfor %}",
      "{% set s = 'a,' * 1000000 %}{% for i in range(100000) %}{% set x = s.replace(',', '') %}{% endfor %}",
      "{% set s = 'a,' * 1000000 %}{% for i in range(100000) %}{% set x = s|title|urlencode %}{% endfor %}",
      "{% set s = '<,' * 1000000 %}{% for i in range(100000) %}{% set x = s|e %}{% endfor %}",
      "{% set s = 'a\\n' * 1000000 %}{% for i in range(100000) %}{% set x = s.splitlines() %}{% set y = s|indent %}{% "
      "endfor %}",
      "{% set s = 'a,' * 1000000 %}{% for i in range(100000) %}{% set x = s[::-1] %}{% endfor %}",
      "{% set s = 'a b-c ' * 100000 %}{% for i in range(100000) %}{% set x = s|wordwrap(9) %}{% endfor %}",
      "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s|wordwrap(1) %}{% endfor %}",
      "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}{% set x = s[500000] %}{% endfor %}",
      "{% set s = 'a' * 8000000 %}{{ (s ~ 'b') in (s ~ s) }}{{ (s ~ s).rfind('b' ~ s) }}{% for i in range(100000) %}{% "
      "set x = s ~ i %}{% endfor %}",
      "{% set l = range(100000)|list %}{% for i in l %}{% if -1 in l %}{% endif %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ "
      "ns.x|string|length }}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ "
      "ns.x|tojson|length }}",
      "{% set a = namespace(x=[1]) %}{% set b = namespace(x=[1]) %}{% for i in range(60) %}{% set a.x = [a.x, a.x] %}"
      "{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}{{ a.x < b.x }}",
      "{% set ns = namespace(x=(1,)) %}{% for i in range(60) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} "
      "}}",
      "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(100) }}",
      "{% set l = range(100000)|list %}{% for i in range(1000) %}{% set x = l|sort %}{% endfor %}",
  };
  for (const std::string& source : endless) {
    std::string got;
    EXPECT_LT(seconds([&] { got = render(source); }), 1.0 * kSlack) << source;
    EXPECT_NE(got.find("LimitError"), std::string::npos) << source << "\n" << got.substr(0, 200);
  }
}

TEST(Buglog, TPL_17_text_of_another_template_language_is_a_load_error) {
  const std::string go =
      "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n{{ end }}{{ if .Prompt }}<|im_start|>user\n{{ "
      ".Prompt }}{{ end }}";
  const auto tmpl = ChatTemplate::parse(go);
  ASSERT_FALSE(tmpl.has_value());
  EXPECT_EQ(tmpl.error().code, ErrorCode::template_error);
  EXPECT_EQ(tmpl.error().message, "chat template, line 2: TemplateSyntaxError: unexpected '.'");
}

TEST(Buglog, TPL_19_official_templates_render_with_tools_absent_or_empty) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  std::ifstream in(std::string(RIDGE_SOURCE_DIR) + "/tests/golden/jinja/official.jsonl");
  ASSERT_TRUE(in) << "tests/golden/jinja/official.jsonl is missing";
  size_t n = 0;
  for (std::string line; std::getline(in, line); ++n) {
    const ordered_json test = ordered_json::parse(line);
    const std::string got = render(golden_template(golden, test["name"].get<std::string>()), test["variables"].dump());
    if (test.contains("expected")) {
      EXPECT_EQ(got, test["expected"].get<std::string>()) << line;
    } else {
      EXPECT_TRUE(ends_with(got, ": " + test["error"].get<std::string>())) << got << line;
    }
  }
  EXPECT_GE(n, 30u);
}

}  // namespace
}  // namespace ridge::jinja::testing
