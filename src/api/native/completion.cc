#include "api/native/completion.h"

#include "api/fields.h"
#include "api/native/settings.h"
#include "api/sse.h"

namespace ridge::api {
namespace {

const char* stop_type(FinishReason reason) {
  switch (reason) {
    case FinishReason::end_of_generation:
      return "eos";
    case FinishReason::stop_string:
      return "word";
    case FinishReason::max_tokens:
    case FinishReason::context_full:
      return "limit";
    case FinishReason::cancelled:
      return "none";
  }
  return "none";
}

class NativeWriter final : public AnswerWriter {
 public:
  NativeWriter(AnswerHead head, const Generation& g) : head_(std::move(head)), g_(g), choices_(head_.n_prompt.size()) {}

  std::string token(size_t i, const TokenEvent& e) override {
    Choice& c = choices_[i];
    c.ids.push_back(e.id);
    c.has_newline = c.has_newline || e.text.find('\n') != std::string::npos;
    Json probability = nullptr;
    if (g_.n_logprobs >= 0) probability = token_probability_json(head_, e, g_.sampling.post_sampling_probs);
    if (!g_.stream) {
      c.text += e.text;
      if (!probability.is_null()) c.probabilities.push_back(std::move(probability));
      return {};
    }
    if (e.text.empty() && probability.is_null() && !g_.return_tokens) return {};
    Json doc = {{"index", i},
                {"content", e.text},
                {"tokens", Json::array({e.id})},
                {"stop", false},
                {"id_slot", nullptr},
                {"tokens_predicted", c.ids.size()},
                {"tokens_evaluated", head_.n_prompt[i]}};
    if (!probability.is_null()) doc["completion_probabilities"] = Json::array({std::move(probability)});
    if (g_.timings_per_token) doc["timings"] = timings_json(head_.n_prompt[i], e, c.ids.size());
    return sse_data(dump(doc));
  }

  std::string finished(size_t i, const Finished& e) override {
    Choice& c = choices_[i];
    c.has_newline = c.has_newline || e.text.find('\n') != std::string::npos;
    Json doc = {{"index", i},
                {"content", g_.stream ? e.text : c.text + e.text},
                {"tokens", !g_.stream && g_.return_tokens ? Json(c.ids) : Json::array()},
                {"id_slot", nullptr},
                {"stop", true},
                {"model", head_.model},
                {"tokens_predicted", e.account.n_output},
                {"tokens_evaluated", e.account.n_prompt}};
    Generation used = g_;
    used.sampling.seed = e.seed;
    doc["generation_settings"] = settings_json(used);
    doc["generation_settings"]["n_ctx"] = head_.n_ctx;
    doc["prompt"] = head_.prompt_text[i];
    doc["has_new_line"] = c.has_newline;
    doc["truncated"] = false;
    doc["stop_type"] = stop_type(e.reason);
    doc["stopping_word"] = e.stop_string;
    doc["tokens_cached"] = e.account.n_prompt + (e.account.n_output > 0 ? e.account.n_output - 1 : 0);
    doc["timings"] = timings_json(e.account);
    if (g_.accounts) doc["accounts"] = accounts_json(e.account, head_.whole_budget(e.account));
    if (!g_.stream && g_.n_logprobs >= 0) doc["completion_probabilities"] = std::move(c.probabilities);
    if (g_.stream) return sse_data(dump(doc));
    c.final = std::move(doc);
    return {};
  }

  std::string failed(size_t, const Refusal& refusal) override {
    if (!failure_.empty()) return {};
    failure_ = render_error(refusal);
    status_ = refusal.status;
    return g_.stream ? sse_data(failure_) : std::string();
  }

  // llama-server ends its own streams without a [DONE]: the last event has "stop": true.
  std::string end() override {
    if (g_.stream) return {};
    if (!failure_.empty()) return failure_;
    if (choices_.size() == 1) return dump(choices_[0].final);
    Json all = Json::array();
    for (Choice& c : choices_) all.push_back(std::move(c.final));
    return dump(all);
  }

  int status() const override { return status_; }

 private:
  struct Choice {
    std::string text;
    std::vector<int32_t> ids;
    bool has_newline = false;
    Json probabilities = Json::array(), final;
  };

  AnswerHead head_;
  Generation g_;
  std::vector<Choice> choices_;
  std::string failure_;
  int status_ = 200;
};

}  // namespace

Result<CompletionRequest> parse_native_completion(std::string_view body, const Generation& defaults) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  CompletionRequest r{.prompts = {}, .generation = defaults};
  Generation& g = r.generation;
  read_generation(f, g);
  refuse_unsupported(f);
  f.refuse("echo", "this field belongs to /v1/completions");
  f.refuse("logprobs", "this field belongs to /v1/completions; here it is n_probs");
  RIDGE_CHECK_OK(f.done());
  if (g.n != 1) return fail(ErrorCode::invalid_argument, "'n': found {}, expected 1; /v1/completions takes more", g.n);
  if (g.sampling.n_probs > 0) {
    g.n_logprobs = g.sampling.n_probs;
    g.sampling.logprobs = true;
  }
  const Json* prompt = f.value("prompt");
  if (prompt == nullptr) return fail(ErrorCode::invalid_argument, "'prompt': is missing, expected a text or token ids");
  RIDGE_TRY(r.prompts, prompts_of(*prompt));
  return r;
}

std::unique_ptr<AnswerWriter> make_native_writer(AnswerHead head, const Generation& generation) {
  return std::make_unique<NativeWriter>(std::move(head), generation);
}

std::string settings_text(const Generation& generation) {
  return dump(settings_json(generation));
}

}  // namespace ridge::api
