// The interfaces as text: what a request's text becomes, what an error names, what events become.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/native/completion.h"
#include "api/native/info.h"
#include "api/native/tools.h"
#include "api/openai/chat.h"
#include "api/openai/completion.h"

namespace ridge::api {
namespace {

using json = nlohmann::json;

std::string message_of(std::string_view body) {
  const auto r = parse_chat(body, {});
  EXPECT_FALSE(r) << body;
  return r ? "" : r.error().message;
}

TEST(Chat, every_field_of_a_full_request_is_read) {
  const auto r = parse_chat(R"({
    "model": "any", "user": "u", "metadata": {"a": 1}, "stream": true, "stream_options": {"include_usage": true},
    "messages": [{"role": "system", "content": "be brief"},
                 {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                 {"role": "assistant", "content": ""}],
    "max_completion_tokens": 7, "n": 2, "stop": ["x", "yy"], "seed": 42, "temperature": 0.5, "top_k": 12.0,
    "top_p": 0.9, "min_p": 0,
    "presence_penalty": 1, "logit_bias": {"5": -100, "6": 1.5}, "logprobs": true,
    "top_logprobs": 3,
    "samplers": ["top_k", "temperature"], "dry_sequence_breakers": ["!"], "timings_per_token": true, "accounts": true,
    "chat_template_kwargs": {"enable_thinking": false}, "response_format": {"type": "text"}, "tools": [],
    "tool_choice": "auto"})",
                            {});
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->messages.size(), 3u);
  EXPECT_EQ(r->messages[1].content, "ab");
  EXPECT_EQ(r->options.variables_json, R"({"enable_thinking":false})");
  const Generation& g = r->generation;
  EXPECT_TRUE(g.stream && g.include_usage && g.timings_per_token && g.accounts);
  EXPECT_EQ(g.max_tokens, 7);
  EXPECT_EQ(g.n, 2);
  EXPECT_EQ(g.stop, (std::vector<std::string>{"x", "yy"}));
  EXPECT_EQ(g.n_logprobs, 3);
  const SamplingParams& p = g.sampling;
  EXPECT_EQ(p.seed, 42u);
  EXPECT_EQ(p.temperature, 0.5);
  EXPECT_EQ(p.top_k, 12);
  EXPECT_EQ(p.presence_penalty, 1.0);
  ASSERT_EQ(p.logit_bias.size(), 2u);
  EXPECT_EQ(p.logit_bias[1].bias, 1.5f);
  EXPECT_EQ(p.samplers, (std::vector<SamplerKind>{SamplerKind::top_k, SamplerKind::temperature}));
  EXPECT_EQ(p.dry_sequence_breakers, (std::vector<std::string>{"!"}));
}

TEST(Chat, a_request_that_says_nothing_gets_the_servers_defaults) {
  Generation defaults;
  defaults.max_tokens = 11;
  defaults.sampling.temperature = 0;
  const auto r = parse_chat(R"({"messages":[{"role":"user","content":"x"}],"max_tokens":null,"stop":null})", defaults);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->generation.max_tokens, 11);
  EXPECT_EQ(r->generation.sampling.temperature, 0);
}

TEST(Chat, errors_open_with_the_name_of_the_field) {
  const std::string messages = R"("messages":[{"role":"user","content":"x"}])";
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, std::string>>{{"temperature", "\"hot\""},
                                                        {"temperature", "1e6"},
                                                        {"max_tokens", "-2"},
                                                        {"n", "0"},
                                                        {"n", "9"},
                                                        {"stop", "[1]"},
                                                        {"logit_bias", "[1]"},
                                                        {"stream", "1"},
                                                        {"top_logprobs", "21"},
                                                        {"top_logprobs", "3"},
                                                        {"tools", "[{}]"},
                                                        {"samplers", "[\"x\"]"},
                                                        {"response_format", "{\"type\":\"xml\"}"},
                                                        {"response_format", "{\"type\":\"json_schema\"}"},
                                                        {"guided_choice", "5"},
                                                        {"stream_options", "5"},
                                                        {"seed", "1.5"},
                                                        {"chat_template_kwargs", "[1]"},
                                                        {"chat_template", "\"x\""},
                                                        {"echo", "true"}}) {
    const std::string message = message_of("{" + messages + ",\"" + field + "\":" + value + "}");
    EXPECT_EQ(message.rfind("'" + field + "'", 0), 0u) << field << " " << value << ": " << message;
    EXPECT_EQ(refusal_of({ErrorCode::invalid_argument, message}).param, field);
  }
}

TEST(Json, depth_is_refused_one_past_the_limit_and_brackets_in_texts_do_not_count) {
  const auto nested = [](int depth) {
    return "{\"x\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  const auto parse = [](const std::string& body) { return message_of(body); };
  EXPECT_NE(parse(nested(64)).find("'messages'"), std::string::npos);
  EXPECT_NE(parse(nested(65)).find("nested"), std::string::npos);
  EXPECT_NE(parse("{\"x\":\"" + std::string(1000, '[') + "\\\"[\"}").find("'messages'"), std::string::npos);
}

TEST(Completion, prompts_are_texts_ids_or_arrays_of_either) {
  const auto prompts = [](const std::string& v) { return parse_completion("{\"prompt\":" + v + "}", {}); };
  EXPECT_EQ(prompts("\"a\"")->prompts[0].text, "a");
  EXPECT_EQ(prompts("[1,2]")->prompts[0].tokens, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(prompts("[\"a\",\"b\"]")->prompts.size(), 2u);
  EXPECT_EQ(prompts("[[1],[2,3]]")->prompts[1].tokens, (std::vector<int32_t>{2, 3}));
  EXPECT_TRUE(prompts("[\"a\",[5]]")->prompts[1].is_tokens);
  for (const char* bad : {"5", "{}", "[1.5]", "[-1]", "[\"a\",5]", "[[\"a\"]]", "null"})
    EXPECT_FALSE(prompts(bad)) << bad;
  EXPECT_FALSE(parse_completion(R"({"prompt":"a","echo":true,"logprobs":1})", {}));
}

AnswerHead head_of(size_t n) {
  AnswerHead h{.id = "7",
               .model = "m",
               .created_s = 1,
               .n_ctx = 64,
               .n_prompt = {},
               .prompt_text = {},
               .token_bytes = [](int32_t id) { return "t" + std::to_string(id); },
               .whole_budget = [](const RequestAccount& a) { return a.time; }};
  h.n_prompt.assign(n, 4);
  h.prompt_text.assign(n, "P");
  return h;
}

Finished finished(std::string rest, FinishReason reason) {
  Finished f;
  f.reason = reason;
  f.text = std::move(rest);
  f.account.n_prompt = 4;
  f.account.n_output = 2;
  f.account.token_ms = {1, 3};
  f.account.ttft_ms = 1;
  return f;
}

std::vector<json> events_of(const std::string& sse) {
  std::vector<json> all;
  for (size_t at = 0; at < sse.size();) {
    const size_t end = sse.find("\n\n", at);
    EXPECT_EQ(sse.compare(at, 6, "data: "), 0) << sse;
    const std::string data = sse.substr(at + 6, end - at - 6);
    all.push_back(data == "[DONE]" ? json(data) : json::parse(data));
    at = end + 2;
  }
  return all;
}

using Make = std::unique_ptr<AnswerWriter> (*)(AnswerHead, const Generation&);

std::string write(Make make, Generation g, size_t n) {
  auto w = make(head_of(n), g);
  std::string out = w->begin();
  for (size_t i = 0; i < n; ++i) {
    out += w->token(i, {.id = 1, .text = "He\xff", .logprob = -0.5f, .top = {{1, -0.5f}}});
    out += w->token(i, {.id = 2, .text = "", .logprob = -1.0f, .top = {}});
    out += w->finished(i, finished("y\"", FinishReason::max_tokens));
  }
  return out + w->end();
}

TEST(Writers, the_stream_is_the_whole_text_with_one_terminal_event_for_each_choice) {
  const std::string text = "He\xef\xbf\xbdy\"";  // what is no UTF-8 becomes U+FFFD, in both forms
  for (const Make make : {make_chat_writer, make_completion_writer, make_native_writer}) {
    Generation g;
    g.n = make == make_native_writer ? 1 : 2;
    const auto n = static_cast<size_t>(g.n);
    const json whole = json::parse(write(make, g, n));
    g.stream = true;
    g.include_usage = true;
    std::vector<std::string> streamed(n);
    std::vector<int> ends(n);
    for (const json& e : events_of(write(make, g, n))) {
      if (e == "[DONE]" || (e.contains("usage"))) continue;
      const json& c = e.contains("choices") ? e["choices"][0] : e;
      const size_t i = c["index"];
      if (c.contains("delta") && c["delta"].contains("content"))
        streamed[i] += c["delta"]["content"].get<std::string>();
      if (c.contains("text")) streamed[i] += c["text"].get<std::string>();
      if (c.contains("content")) streamed[i] += c["content"].get<std::string>();
      ends[i] += c.contains("stop") ? c["stop"] == true : !c["finish_reason"].is_null();
    }
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(streamed[i], text);
      EXPECT_EQ(ends[i], 1);
    }
    const json& c = whole.contains("choices") ? whole["choices"][n - 1] : whole;
    EXPECT_EQ(c.contains("message") ? c["message"]["content"] : c.contains("text") ? c["text"] : c["content"], text);
    EXPECT_EQ(whole.value("/usage/total_tokens"_json_pointer, 4 + 2 * g.n), 4 + 2 * g.n);
    EXPECT_EQ(whole["timings"]["predicted_per_token_ms"], 2.0) << "one step after the first token";
  }
}

TEST(Writers, a_failure_is_told_once_and_is_the_whole_answer_when_not_streaming) {
  for (const Make make : {make_chat_writer, make_completion_writer, make_native_writer}) {
    for (const bool stream : {false, true}) {
      Generation g;
      g.n = 2;
      g.stream = stream;
      auto w = make(head_of(2), g);
      std::string out = w->begin() + w->token(0, {.id = 1, .text = "a", .logprob = {}, .top = {}});
      out += w->failed(0, {.status = 503, .message = "gone"});
      out += w->failed(1, {.status = 503, .message = "gone"});
      out += w->end();
      size_t n = 0;
      for (size_t at = out.find("\"error\""); at != std::string::npos; at = out.find("\"error\"", at + 1)) ++n;
      EXPECT_EQ(n, 1u) << out;
      if (stream) continue;
      EXPECT_EQ(json::parse(out)["error"]["type"], "unavailable_error");
      EXPECT_EQ(w->status(), 503);
    }
  }
}

TEST(Writers, logprobs_have_the_forms_of_both_interfaces) {
  Generation g;
  g.n_logprobs = 1;
  const json chat = json::parse(write(make_chat_writer, g, 1));
  EXPECT_EQ(chat["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0]["bytes"], json({116, 49}));
  const json text = json::parse(write(make_completion_writer, g, 1));
  EXPECT_EQ(text["choices"][0]["logprobs"]["tokens"], json({"t1", "t2"}));
  EXPECT_EQ(text["choices"][0]["logprobs"]["token_logprobs"][1], -1.0);
}

TEST(Tools, tokens_that_are_parts_of_characters_are_shown_as_bytes) {
  const std::vector<int32_t> ids = {3, 4};
  const std::vector<std::string> pieces = {"a", "\xe4\xb8"};
  EXPECT_EQ(json::parse(render_tokens(ids, pieces))["tokens"][1]["piece"], json({0xe4, 0xb8}));
  EXPECT_EQ(json::parse(render_tokens(ids, {}))["tokens"], json({3, 4}));
  EXPECT_FALSE(parse_tokenize("{}"));
  EXPECT_FALSE(parse_detokenize(R"({"tokens":["a"]})"));
}

TEST(Info, slots_show_what_runs_first_and_never_a_text) {
  SlotView running;
  running.id_task = 9;
  running.n_decoded = 3;
  running.generation.max_tokens = 10;
  const json slots = json::parse(render_slots(std::vector<SlotView>{running}, 3, 512));
  ASSERT_EQ(slots.size(), 3u);
  EXPECT_EQ(slots[0]["next_token"][0]["n_remain"], 7);
  EXPECT_EQ(slots[1]["is_processing"], false);
  EXPECT_FALSE(slots[0].contains("prompt"));
}

}  // namespace
}  // namespace ridge::api
