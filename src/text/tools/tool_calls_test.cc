// Tool calls in every format, whole and byte by byte; broken and cut ones; reasoning. Rows of the bug log by their id.
#include "text/tools/tool_calls.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ridge::tools {
namespace {

struct Call {
  std::string id, name, arguments;
  bool ended = false, broken = false;
};
struct Answer {
  std::string content, reasoning, broken;
  std::vector<Call> calls;
};

// Puts deltas together and checks what every stream of them must hold.
void take(Answer& a, const std::vector<Delta>& deltas) {
  for (const Delta& d : deltas) {
    const auto at = static_cast<size_t>(d.index);
    switch (d.kind) {
      case Delta::Kind::content:
        a.content += d.text;
        break;
      case Delta::Kind::reasoning:
        a.reasoning += d.text;
        break;
      case Delta::Kind::call:
        ASSERT_EQ(at, a.calls.size()) << "indices count up";
        a.calls.push_back({d.id, d.name, "", false, false});
        ASSERT_EQ(d.id.size(), 9U);
        break;
      case Delta::Kind::arguments:
        ASSERT_EQ(at + 1, a.calls.size());
        ASSERT_FALSE(a.calls[at].ended);
        a.calls[at].arguments += d.text;
        break;
      case Delta::Kind::call_end:
        ASSERT_EQ(at + 1, a.calls.size());
        a.calls[at].ended = true;
        break;
      case Delta::Kind::broken:
        a.broken += d.text;
        if (d.index >= 0) a.calls[at].broken = true;
        break;
    }
  }
}

Answer parse(ParserOptions options, std::string_view text, size_t step) {
  Parser p(options);
  Answer a;
  for (size_t i = 0; i < text.size(); i += step) take(a, p.push(text.substr(i, step)));
  take(a, p.finish());
  size_t n_whole = 0;
  for (const Call& c : a.calls) {
    n_whole += c.ended;
    EXPECT_TRUE(c.ended != c.broken) << c.name;
    if (c.ended) {
      EXPECT_TRUE(nlohmann::json::accept(c.arguments)) << c.arguments;
    }
  }
  EXPECT_EQ(static_cast<size_t>(p.n_calls()), n_whole);
  return a;
}

std::vector<Call> whole_calls(const Answer& a) {
  std::vector<Call> out;
  for (const Call& c : a.calls) {
    if (c.ended) out.push_back(c);
  }
  return out;
}

// The same in pieces of every size.
Answer parse_all_ways(ParserOptions options, std::string_view text) {
  const Answer whole = parse(options, text, text.size() + 1);
  for (const size_t step : {size_t{1}, size_t{2}, size_t{3}, size_t{7}}) {
    const Answer a = parse(options, text, step);
    EXPECT_EQ(a.content, whole.content) << step;
    EXPECT_EQ(a.reasoning, whole.reasoning) << step;
    EXPECT_EQ(a.broken, whole.broken) << step;
    // A call that turns out to be broken may have been announced, where its name came before what broke it.
    const std::vector<Call> found = whole_calls(a), expected = whole_calls(whole);
    EXPECT_EQ(found.size(), expected.size()) << step;
    for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      EXPECT_EQ(found[i].name, expected[i].name);
      EXPECT_EQ(found[i].arguments, expected[i].arguments) << step;
    }
  }
  return whole;
}

struct Sample {
  Format format;
  const char* text;
  std::vector<std::pair<const char*, const char*>> calls;
  const char* content = "";
  const char* reasoning = "";
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {Format::hermes,
       "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": [2]}}\n</tool_call>",
       {{"add", "{\"a\": 1, \"b\": [2]}"}}},
      {Format::hermes,
       "Let me see.\n<tool_call>\n{\"name\": \"a\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"arguments\": "
       "{\"x\": \"}\\\"{\"}, \"name\": \"b\"}\n</tool_call>",
       {{"a", "{}"}, {"b", "{\"x\": \"}\\\"{\"}"}},
       "Let me see.\n\n"},
      {Format::hermes,
       "<think>\nhm\n</think>\n\n<tool_call>{\"name\": \"a\", \"arguments\": \"{\\\"k\\\": 1}\"}</tool_call>",
       {{"a", "{\"k\": 1}"}},
       "",
       "\nhm\n"},
      {Format::llama3, "{\"name\": \"get\", \"parameters\": {\"q\": \"x\"}}", {{"get", "{\"q\": \"x\"}"}}},
      {Format::llama3, "<|python_tag|>{\"name\": \"get\", \"parameters\": {}}", {{"get", "{}"}}},
      {Format::llama3,
       "{\"name\": \"a\", \"parameters\": {}}; {\"name\": \"b\", \"parameters\": {\"n\": 1}}",
       {{"a", "{}"}, {"b", "{\"n\": 1}"}}},
      {Format::llama3, "Just {\"name\": 1} text", {}, "Just {\"name\": 1} text"},
      {Format::mistral,
       "[TOOL_CALLS][{\"name\": \"a\", \"arguments\": {\"x\": 1}}, {\"name\": \"b\", \"arguments\": {}}]",
       {{"a", "{\"x\": 1}"}, {"b", "{}"}}},
      {Format::mistral,
       "Yes.[TOOL_CALLS]a[CALL_ID]123456789[ARGS]{\"x\": 1}[TOOL_CALLS]b[ARGS]{}",
       {{"a", "{\"x\": 1}"}, {"b", "{}"}},
       "Yes."},
      {Format::harmony,
       "<|channel|>analysis<|message|>think a < b<|end|><|start|>assistant<|channel|>commentary to=functions.add "
       "<|constrain|>json<|message|>{\"a\": 1}<|call|>",
       {{"add", "{\"a\": 1}"}},
       "",
       "think a < b"},
      {Format::harmony, "<|channel|>final<|message|>The answer.<|return|>", {}, "The answer."},
      {Format::deepseek,
       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get\n```json\n{\"q\": "
       "1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       {{"get", "{\"q\": 1}"}},
       "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>"},
      {Format::deepseek,
       "<｜tool▁call▁begin｜>get<｜tool▁sep｜>{\"q\": 1}<｜tool▁call▁end｜>",
       {{"get", "{\"q\": 1}"}}},
      {Format::glm,
       "<tool_call>get\n<arg_key>city</arg_key>\n<arg_value>Rome "
       "\"x\"</arg_value>\n<arg_key>n</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
       {{"get", "{\"city\": \"Rome \\\"x\\\"\", \"n\": 3}"}}},
      {Format::generic, "{\"tool_call\": {\"name\": \"a\", \"arguments\": {\"x\": 1}}}", {{"a", "{\"x\": 1}"}}},
      {Format::generic, "Plain text < with [ brackets", {}, "Plain text < with [ brackets"},
  };
  return all;
}

TEST(ToolCalls, are_the_same_whole_and_in_pieces) {
  for (const Sample& s : samples()) {
    const Answer a = parse_all_ways({.format = s.format, .thinks = true}, s.text);
    ASSERT_EQ(a.calls.size(), s.calls.size()) << s.text;
    for (size_t i = 0; i < s.calls.size(); ++i) {
      EXPECT_EQ(a.calls[i].name, s.calls[i].first) << s.text;
      EXPECT_EQ(a.calls[i].arguments, s.calls[i].second) << s.text;
      EXPECT_TRUE(a.calls[i].ended) << s.text;
    }
    EXPECT_EQ(a.content, s.content) << s.text;
    EXPECT_EQ(a.reasoning, s.reasoning) << s.text;
    EXPECT_EQ(a.broken, "") << s.text;
  }
}

TEST(ToolCalls, nothing_is_lost_when_the_answer_is_cut_anywhere) {
  for (const Sample& s : samples()) {
    const std::string_view text = s.text;
    for (size_t n = 0; n < text.size(); ++n) {
      const Answer a = parse_all_ways({.format = s.format, .thinks = true}, text.substr(0, n));
      for (const Call& c : a.calls) EXPECT_TRUE(c.ended || c.broken);
    }
  }
}

// TOOL-01: no call, no finish reason of calls.
TEST(ToolCalls, TOOL_01_text_is_no_call) {
  Parser p({.format = Format::hermes});
  p.push("Hello, how are you?");
  p.finish();
  EXPECT_EQ(p.n_calls(), 0);
}

// TOOL-05: indices 0 and 1, ids once and different, arguments in fragments that make JSON together.
TEST(ToolCalls, TOOL_05_parallel_calls_have_indices_and_ids) {
  const Answer a = parse({.format = Format::hermes},
                         "<tool_call>{\"name\": \"a\", \"arguments\": {\"x\": 1}}</tool_call>\n<tool_call>{\"name\": "
                         "\"a\", \"arguments\": {\"x\": 2}}</tool_call>",
                         2);
  ASSERT_EQ(a.calls.size(), 2U);
  EXPECT_NE(a.calls[0].id, a.calls[1].id);
  EXPECT_EQ(a.calls[1].arguments, "{\"x\": 2}");
}

// TOOL-07: quotes, backslashes, braces, escapes, cut at every byte: parse() checks that every delta adds.
TEST(ToolCalls, TOOL_07_deltas_only_ever_add) {
  const std::string arguments =
      "{\"text\": \"a \\\"quoted\\\" \\\\ {brace} [\\u00e9\\ud83d\\ude00] \\n </tool_call> end\"}";
  const Answer a = parse_all_ways({.format = Format::hermes},
                                  "<tool_call>{\"name\": \"w\", \"arguments\": " + arguments + "}</tool_call>");
  ASSERT_EQ(a.calls.size(), 1U);
  EXPECT_EQ(a.calls[0].arguments, arguments);
}

// TOOL-08: a lone '<' in reasoning is text.
TEST(ToolCalls, TOOL_08_reasoning_keeps_its_angle_brackets) {
  const Answer a = parse_all_ways({.format = Format::hermes, .thinks = true, .starts_in_thought = true},
                                  "Interface <interface </thin k></think>Done.");
  EXPECT_EQ(a.reasoning, "Interface <interface </thin k>");
  EXPECT_EQ(a.content, "Done.");
}

// TOOL-09: a call without arguments has the empty object.
TEST(ToolCalls, TOOL_09_no_arguments_are_the_empty_object) {
  const Sample cases[] = {{Format::hermes, "<tool_call>{\"name\": \"now\"}</tool_call>", {}},
                          {Format::hermes, "<tool_call>{\"name\": \"now\", \"arguments\": null}</tool_call>", {}},
                          {Format::llama3, "{\"name\": \"now\", \"parameters\": {}}", {}},
                          {Format::glm, "<tool_call>now\n</tool_call>", {}},
                          {Format::deepseek, "<｜tool▁call▁begin｜>now<｜tool▁sep｜><｜tool▁call▁end｜>", {}}};
  for (const Sample& s : cases) {
    const Answer a = parse_all_ways({.format = s.format}, s.text);
    ASSERT_EQ(a.calls.size(), 1U) << s.text;
    EXPECT_EQ(a.calls[0].name, "now");
    EXPECT_EQ(a.calls[0].arguments, "{}");
  }
}

TEST(ToolCalls, what_is_malformed_or_cut_is_kept_as_text) {
  const std::pair<Format, const char*> cases[] = {
      {Format::hermes, "<tool_call>\n{\"name\": \"a\", \"arguments\": {\"x\": "},
      {Format::hermes, "<tool_call>\nnot json\n</tool_call>"},
      {Format::hermes, "<tool_call>{\"arguments\": {}}</tool_call>"},
      {Format::hermes, "<tool_call>{\"name\": \"a\", \"arguments\": [1]}</tool_call>"},
      {Format::llama3, "{\"answer\": 42}"},
      {Format::mistral, "[TOOL_CALLS]nothing"},
      {Format::deepseek, "<｜tool▁call▁begin｜>get<｜tool▁sep｜>{\"q\": "},
      {Format::glm, "<tool_call>get\n<arg_key>a</arg_key>\n<arg_value>1"},
      {Format::harmony, "<|channel|>commentary to=functions.add <|message|>{\"a\": "},
      {Format::generic, "{\"tool_call\": {\"name\": 3}}"},
  };
  for (const auto& [format, text] : cases) {
    const Answer a = parse_all_ways({.format = format}, text);
    EXPECT_NE(a.broken, "") << text;
    for (const Call& c : a.calls) EXPECT_TRUE(c.broken);
    EXPECT_NE(std::string_view(text).find(a.broken.substr(0, 8)), std::string_view::npos) << a.broken;
  }
  const std::string deep_call = "{\"name\": \"a\", \"parameters\": " + std::string(5000, '[');
  const Answer deep = parse({.format = Format::llama3}, deep_call, deep_call.size());
  EXPECT_TRUE(deep.calls.empty());
}

TEST(ToolCalls, the_format_is_found_in_the_template) {
  EXPECT_EQ(find_format("x <tool_call> y"), Format::hermes);
  EXPECT_EQ(find_format("<tool_call> <arg_key>"), Format::glm);
  EXPECT_EQ(find_format("[TOOL_CALLS]"), Format::mistral);
  EXPECT_EQ(find_format("<|channel|>"), Format::harmony);
  EXPECT_EQ(find_format("<｜tool▁call▁begin｜>"), Format::deepseek);
  EXPECT_EQ(find_format("<|start_header_id|> \"parameters\""), Format::llama3);
  EXPECT_EQ(find_format("{{ messages }}"), Format::generic);
  EXPECT_TRUE(thinks("a </think> b"));
  EXPECT_FALSE(thinks("none"));
}

}  // namespace
}  // namespace ridge::tools
