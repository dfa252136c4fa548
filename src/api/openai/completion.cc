#include "api/openai/completion.h"

#include "api/fields.h"
#include "api/openai/usage.h"
#include "api/sse.h"

namespace ridge::api {
namespace {

// OpenAI's legacy form: four arrays side by side.
struct Logprobs {
  Json tokens = Json::array(), token_logprobs = Json::array(), top_logprobs = Json::array(),
       text_offset = Json::array();

  void add(const AnswerHead& head, const TokenEvent& e, size_t offset) {
    const auto value = [](float l) { return std::max(static_cast<double>(l), -1e9); };
    tokens.push_back(head.token_bytes(e.id));
    token_logprobs.push_back(value(e.logprob.value_or(0)));
    Json top = Json::object();
    for (const TokenProbability& t : e.top) top[head.token_bytes(t.id)] = value(t.logprob);
    top_logprobs.push_back(std::move(top));
    text_offset.push_back(offset);
  }
  Json json() const {
    return {{"tokens", tokens},
            {"token_logprobs", token_logprobs},
            {"top_logprobs", top_logprobs},
            {"text_offset", text_offset}};
  }
};

class CompletionWriter final : public AnswerWriter {
 public:
  CompletionWriter(AnswerHead head, const Generation& g)
      : head_(std::move(head)), g_(g), choices_(head_.n_prompt.size()), usage_(static_cast<size_t>(g.n)) {
    for (size_t i = 0; g_.echo && i < choices_.size(); ++i) choices_[i].text = head_.prompt_text[i];
  }

  std::string begin() override {
    std::string out;
    for (size_t i = 0; g_.stream && g_.echo && i < choices_.size(); ++i)
      out += sse_data(dump(chunk(i, choices_[i].text, nullptr, nullptr)));
    return out;
  }

  std::string token(size_t i, const TokenEvent& e) override {
    Choice& c = choices_[i];
    ++c.n_tokens;
    const size_t offset = c.n_bytes;
    c.n_bytes += e.text.size();
    if (!g_.stream) {
      if (g_.n_logprobs >= 0) c.logprobs.add(head_, e, offset);
      c.text += e.text;
      return {};
    }
    if (e.text.empty() && g_.n_logprobs < 0) return {};
    Json logprobs = nullptr;
    if (g_.n_logprobs >= 0) {
      Logprobs one;
      one.add(head_, e, offset);
      logprobs = one.json();
    }
    Json doc = chunk(i, e.text, std::move(logprobs), nullptr);
    if (g_.timings_per_token) doc["timings"] = timings_json(head_.n_prompt[i], e, c.n_tokens);
    return sse_data(dump(doc));
  }

  std::string finished(size_t i, const Finished& e) override {
    Choice& c = choices_[i];
    c.reason = finish_reason(e.reason);
    c.account = e.account;
    usage_.add(i, e.account);
    if (!g_.stream) {
      c.text += e.text;
      return {};
    }
    Json doc = chunk(i, e.text, nullptr, c.reason);
    add_books(doc, c.account);
    return sse_data(dump(doc));
  }

  std::string failed(size_t, const Refusal& refusal) override {
    if (!failure_.empty()) return {};
    failure_ = render_error(refusal);
    status_ = refusal.status;
    return g_.stream ? sse_data(failure_) : std::string();
  }

  std::string end() override {
    if (g_.stream) {
      std::string out;
      if (failure_.empty() && g_.include_usage) {
        Json doc = top();
        doc["choices"] = Json::array();
        doc["usage"] = usage_.json();
        out += sse_data(dump(doc));
      }
      return out + sse_data("[DONE]");
    }
    if (!failure_.empty()) return failure_;
    Json doc = top();
    Json choices = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) {
      const Choice& c = choices_[i];
      choices.push_back({{"index", i},
                         {"text", c.text},
                         {"logprobs", g_.n_logprobs >= 0 ? c.logprobs.json() : Json(nullptr)},
                         {"finish_reason", c.reason}});
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
    Logprobs logprobs;
    size_t n_bytes = 0;
    uint64_t n_tokens = 0;
    RequestAccount account;
  };

  Json top() const {
    return {{"id", "cmpl-" + head_.id},
            {"object", "text_completion"},
            {"created", head_.created_s},
            {"model", head_.model},
            {"system_fingerprint", "ridge-" RIDGE_VERSION}};
  }
  Json chunk(size_t i, std::string_view text, Json logprobs, Json reason) const {
    Json doc = top();
    doc["choices"] = Json::array(
        {{{"index", i}, {"text", text}, {"logprobs", std::move(logprobs)}, {"finish_reason", std::move(reason)}}});
    return doc;
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

void read_logprobs(Fields& f, Generation& g) {
  int32_t wanted = -1;
  f.integer("logprobs", wanted, 0, kMaxTopLogprobs);
  if (wanted < 0) wanted = g.sampling.n_probs > 0 ? g.sampling.n_probs : -1;
  if (wanted < 0) return;
  if (g.echo) return f.error("echo", "log-probabilities of prompt tokens are not supported yet: leave out logprobs");
  g.n_logprobs = wanted;
  g.sampling.n_probs = wanted;
  g.sampling.logprobs = true;
}

}  // namespace

Result<CompletionRequest> parse_completion(std::string_view body, const Generation& defaults) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  CompletionRequest r{.prompts = {}, .generation = defaults};
  Generation& g = r.generation;
  read_generation(f, g);
  f.boolean("echo", g.echo);
  read_logprobs(f, g);
  refuse_unsupported(f);
  RIDGE_CHECK_OK(f.done());
  const Json* prompt = f.value("prompt");
  if (prompt == nullptr) return fail(ErrorCode::invalid_argument, "'prompt': is missing, expected a text or token ids");
  RIDGE_TRY(r.prompts, prompts_of(*prompt));
  if (r.prompts.size() * static_cast<size_t>(g.n) > kMaxPrompts) {
    return fail(ErrorCode::invalid_argument, "'n': {} prompts times {} choices is more than {}", r.prompts.size(), g.n,
                kMaxPrompts);
  }
  return r;
}

std::unique_ptr<AnswerWriter> make_completion_writer(AnswerHead head, const Generation& generation) {
  return std::make_unique<CompletionWriter>(std::move(head), generation);
}

}  // namespace ridge::api
