#include "api/openai/chat.h"

#include "api/fields.h"
#include "api/messages.h"
#include "api/openai/usage.h"
#include "api/sse.h"

namespace ridge::api {
namespace {

void read_logprobs(Fields& f, Generation& g) {
  bool wanted = false;
  int32_t top = -1;
  f.boolean("logprobs", wanted);
  f.integer("top_logprobs", top, 0, kMaxTopLogprobs);
  if (!f.ok()) return;
  if (top >= 0 && !wanted) return f.error("top_logprobs", "needs \"logprobs\": true");
  if (!wanted) {
    if (g.sampling.n_probs > 0) g.n_logprobs = g.sampling.n_probs;  // llama-server's own field
    return;
  }
  g.n_logprobs = std::max(top, 0);
  g.sampling.n_probs = g.n_logprobs;
  g.sampling.logprobs = true;
}

class ChatWriter final : public AnswerWriter {
 public:
  ChatWriter(AnswerHead head, const Generation& g)
      : head_(std::move(head)), g_(g), choices_(static_cast<size_t>(g.n)), usage_(static_cast<size_t>(g.n)) {}

  std::string begin() override {
    std::string out;
    for (size_t i = 0; g_.stream && i < choices_.size(); ++i)
      out += chunk(i, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr);
    return out;
  }

  std::string token(size_t i, const TokenEvent& e) override {
    Choice& c = choices_[i];
    ++c.n_tokens;
    Json logprobs = nullptr;
    if (g_.n_logprobs >= 0) logprobs = token_probability_json(head_, e, g_.sampling.post_sampling_probs);
    if (!g_.stream) {
      c.text += e.text;
      if (!logprobs.is_null()) c.logprobs.push_back(std::move(logprobs));
      return {};
    }
    if (e.text.empty() && logprobs.is_null()) return {};
    Json doc = chunk_json(i, {{"content", e.text}}, nullptr,
                          logprobs.is_null() ? Json(nullptr) : Json{{"content", Json::array({std::move(logprobs)})}});
    if (g_.timings_per_token) doc["timings"] = timings_json(head_.n_prompt[i], e, c.n_tokens);
    return sse_data(dump(doc));
  }

  std::string finished(size_t i, const Finished& e) override {
    Choice& c = choices_[i];
    c.text += g_.stream ? "" : e.text;
    c.reason = finish_reason(e.reason);
    c.account = e.account;
    usage_.add(i, e.account);
    std::string out;
    if (!g_.stream) return out;
    if (!e.text.empty()) out += chunk(i, {{"content", e.text}}, nullptr, nullptr);
    Json doc = chunk_json(i, Json::object(), c.reason, nullptr);
    add_books(doc, c.account);
    return out + sse_data(dump(doc));
  }

  std::string failed(size_t, const Refusal& refusal) override {
    if (failure_.empty()) {
      failure_ = render_error(refusal);
      status_ = refusal.status;
      if (g_.stream) return sse_data(failure_);
    }
    return {};
  }

  std::string end() override {
    if (g_.stream) {
      std::string out;
      if (failure_.empty() && g_.include_usage) {
        Json doc = top("chat.completion.chunk");
        doc["choices"] = Json::array();
        doc["usage"] = usage_.json();
        out += sse_data(dump(doc));
      }
      return out + sse_data("[DONE]");
    }
    if (!failure_.empty()) return failure_;
    Json doc = top("chat.completion");
    Json choices = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) {
      Choice& c = choices_[i];
      Json choice = {{"index", i}, {"message", {{"role", "assistant"}, {"content", c.text}}}};
      choice["logprobs"] = g_.n_logprobs >= 0 ? Json{{"content", std::move(c.logprobs)}} : Json(nullptr);
      choice["finish_reason"] = c.reason;
      choices.push_back(std::move(choice));
    }
    doc["choices"] = std::move(choices);
    doc["usage"] = usage_.json();
    add_books(doc, choices_.back().account);
    return dump(doc);
  }

  int status() const override { return status_; }

 private:
  struct Choice {
    std::string text, reason;
    Json logprobs = Json::array();
    uint64_t n_tokens = 0;
    RequestAccount account;
  };

  Json top(const char* object) const {
    return {{"id", "chatcmpl-" + head_.id},
            {"object", object},
            {"created", head_.created_s},
            {"model", head_.model},
            {"system_fingerprint", "ridge-" RIDGE_VERSION}};
  }
  Json chunk_json(size_t i, Json delta, Json reason, Json logprobs) const {
    Json doc = top("chat.completion.chunk");
    doc["choices"] = Json::array({{{"index", i},
                                   {"delta", std::move(delta)},
                                   {"logprobs", std::move(logprobs)},
                                   {"finish_reason", std::move(reason)}}});
    return doc;
  }
  std::string chunk(size_t i, Json delta, Json reason, Json logprobs) const {
    return sse_data(dump(chunk_json(i, std::move(delta), std::move(reason), std::move(logprobs))));
  }
  void add_books(Json& doc, const RequestAccount& a) const {
    doc["timings"] = timings_json(a);
    if (g_.accounts) doc["accounts"] = accounts_json(a, head_.whole_budget(a));
  }

  AnswerHead head_;
  Generation g_;
  std::vector<Choice> choices_;
  Usage usage_;
  std::string failure_;
  int status_ = 200;
};

}  // namespace

Result<ChatRequest> parse_chat(std::string_view body, const Generation& defaults) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  ChatRequest r{.messages = {}, .options = {}, .generation = defaults};
  read_generation(f, r.generation);
  read_logprobs(f, r.generation);
  read_messages(f, r.messages);
  read_chat_options(f, r.options);
  refuse_unsupported(f);
  f.refuse("echo", "this field belongs to /v1/completions");
  RIDGE_CHECK_OK(f.done());
  return r;
}

std::unique_ptr<AnswerWriter> make_chat_writer(AnswerHead head, const Generation& generation) {
  return std::make_unique<ChatWriter>(std::move(head), generation);
}

}  // namespace ridge::api
