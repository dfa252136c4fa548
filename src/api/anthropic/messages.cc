#include "api/anthropic/messages.h"

#include "api/fields.h"
#include "api/messages.h"
#include "api/sse.h"

namespace ridge::api {
namespace {

void read_conversation(Fields& f, ChatRequest& r) {
  if (const Json* system = f.value("system"); system != nullptr) {
    auto text = content_text(*system, "system");
    if (!text) return f.keep(tl::unexpected<Error>(std::move(text.error())));
    r.messages.push_back({"system", std::move(*text)});
  }
  read_messages(f, r.messages);
  constexpr std::string_view kLater = "this field is known and not supported yet: leave it out";
  f.refuse("tools", kLater);
  f.refuse("tool_choice", kLater);
  f.refuse("mcp_servers", kLater);
  f.refuse("container", kLater);
  f.refuse("thinking", kLater, {Json{{"type", "disabled"}}});
}

const char* stop_reason(FinishReason reason) {
  if (reason == FinishReason::stop_string) return "stop_sequence";
  return reason == FinishReason::max_tokens || reason == FinishReason::context_full ? "max_tokens" : "end_turn";
}

// message_start, content_block_start, deltas, content_block_stop, message_delta, message_stop.
class AnthropicWriter final : public AnswerWriter {
 public:
  AnthropicWriter(AnswerHead head, const Generation& g) : head_(std::move(head)), g_(g) {}

  std::string begin() override {
    if (!g_.stream) return {};
    Json start = {{"type", "message_start"}, {"message", message(Json::array(), nullptr, nullptr, 0)}};
    const Json block = {{"type", "content_block_start"}, {"index", 0}, {"content_block", text_block("")}};
    return event(start) + event(block);
  }

  std::string token(size_t, const TokenEvent& e) override { return add(e.text); }

  std::string finished(size_t, const Finished& e) override {
    std::string out = add(e.text);
    const Json reason = stop_reason(e.reason);
    const Json word = e.stop_string.empty() ? Json(nullptr) : Json(e.stop_string);
    if (!g_.stream) {
      whole_ = message(Json::array({text_block(text_)}), reason, word, e.account.n_output);
      add_books(whole_, e.account);
      return out;
    }
    out += event({{"type", "content_block_stop"}, {"index", 0}});
    Json delta = {{"type", "message_delta"},
                  {"delta", {{"stop_reason", reason}, {"stop_sequence", word}}},
                  {"usage", {{"output_tokens", e.account.n_output}}}};
    add_books(delta, e.account);
    return out + event(delta) + event({{"type", "message_stop"}});
  }

  std::string failed(size_t, const Refusal& refusal) override {
    failure_ = render_error_anthropic(refusal);
    status_ = refusal.status;
    return g_.stream ? sse_event("error", failure_) : std::string();
  }

  std::string end() override {
    if (g_.stream) return {};
    return failure_.empty() ? dump(whole_) : failure_;
  }

  int status() const override { return status_; }

 private:
  static std::string event(const Json& doc) { return sse_event(doc["type"].get_ref<const std::string&>(), dump(doc)); }
  static Json text_block(std::string_view text) { return {{"type", "text"}, {"text", text}}; }
  Json message(Json content, Json reason, Json word, uint64_t n_output) const {
    return {{"id", "msg-" + head_.id},
            {"type", "message"},
            {"role", "assistant"},
            {"model", head_.model},
            {"content", std::move(content)},
            {"stop_reason", std::move(reason)},
            {"stop_sequence", std::move(word)},
            {"usage", {{"input_tokens", head_.n_prompt[0]}, {"output_tokens", n_output}}}};
  }
  std::string add(std::string_view text) {
    if (!g_.stream) text_ += text;
    if (!g_.stream || text.empty()) return {};
    return event({{"type", "content_block_delta"}, {"index", 0}, {"delta", {{"type", "text_delta"}, {"text", text}}}});
  }
  void add_books(Json& doc, const RequestAccount& a) const {
    if (!g_.accounts) return;
    doc["timings"] = timings_json(a);
    doc["accounts"] = accounts_json(a, head_.whole_budget(a));
  }

  AnswerHead head_;
  Generation g_;
  std::string text_, failure_;
  Json whole_;
  int status_ = 200;
};

}  // namespace

Result<ChatRequest> parse_anthropic(std::string_view body, const Generation& defaults) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  ChatRequest r{.messages = {}, .options = {}, .generation = defaults};
  Generation& g = r.generation;
  read_generation(f, g);
  f.refuse("n", "one answer is given", {Json(1)});
  if (f.value("max_tokens") == nullptr) f.error("max_tokens", "is missing, expected a whole number of 1 or more");
  f.integer("max_tokens", g.max_tokens, 1, std::numeric_limits<int32_t>::max());
  f.texts("stop_sequences", g.stop, 16);
  read_conversation(f, r);
  read_chat_options(f, r.options);
  RIDGE_CHECK_OK(f.done());
  return r;
}

Result<ChatRequest> parse_anthropic_count(std::string_view body) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  ChatRequest r;
  read_conversation(f, r);
  read_chat_options(f, r.options);
  RIDGE_CHECK_OK(f.done());
  return r;
}

std::string render_count(size_t n_tokens) {
  return dump(Json{{"input_tokens", n_tokens}});
}

std::unique_ptr<AnswerWriter> make_anthropic_writer(AnswerHead head, const Generation& generation) {
  return std::make_unique<AnthropicWriter>(std::move(head), generation);
}

}  // namespace ridge::api
