// `timings` with llama-server's keys and meanings, the books as JSON, log-probabilities.
// predicted_* divides by the steps after the first token, which comes from the prompt's last step.
#include <algorithm>
#include <cmath>

#include "api/fields.h"

namespace ridge::api {
namespace {

double stage_ms(const TimeBudget& budget, std::string_view name) {
  for (const StageTime& s : budget.stages) {
    if (s.name == name) return s.ms;
  }
  return 0;
}

Json per(double ms, uint64_t n) {
  return n > 0 ? Json(ms / static_cast<double>(n)) : Json(nullptr);
}
Json per_second(uint64_t n, double ms) {
  return n > 0 && ms > 0 ? Json(static_cast<double>(n) / ms * 1000.0) : Json(nullptr);
}

Json timings(uint64_t n_prompt, double prompt_ms, uint64_t n_predicted, double predicted_ms) {
  const uint64_t n_after_first = n_predicted > 0 ? n_predicted - 1 : 0;
  return {{"cache_n", 0},
          {"prompt_n", n_prompt},
          {"prompt_ms", prompt_ms},
          {"prompt_per_token_ms", per(prompt_ms, n_prompt)},
          {"prompt_per_second", per_second(n_prompt, prompt_ms)},
          {"predicted_n", n_predicted},
          {"predicted_ms", predicted_ms},
          {"predicted_per_token_ms", per(predicted_ms, n_after_first)},
          {"predicted_per_second", per_second(n_after_first, predicted_ms)}};
}

Json json_of(const TimeBudget& b) {
  Json stages = Json::array();
  for (const StageTime& s : b.stages) stages.push_back({{"name", s.name}, {"ms", s.ms}, {"n", s.n}});
  return {{"elapsed_ms", b.elapsed_ms},
          {"residual_ms", b.residual_ms},
          {"closes", b.closes},
          {"stages", std::move(stages)}};
}

Json json_of(const PhaseWork& w) {
  return {{"n_tokens", w.n_tokens},
          {"n_steps", w.n_steps},
          {"forward_ms", w.forward_ms},
          {"flops", w.flops},
          {"bytes",
           {{"weights", w.weight_bytes},
            {"kv_read", w.kv_read_bytes},
            {"kv_write", w.kv_write_bytes},
            {"activations", w.activation_bytes}}}};
}

Json one_probability(const AnswerHead& head, int32_t id, float logprob, bool post_sampling) {
  const std::string bytes = head.token_bytes(id);
  Json numbers = Json::array();
  for (const char c : bytes) numbers.push_back(static_cast<unsigned char>(c));
  Json out = {{"id", id}, {"token", bytes}, {"bytes", std::move(numbers)}};
  // -infinity is no JSON number.
  const double value = std::max(static_cast<double>(logprob), -1e9);
  if (post_sampling) {
    out["prob"] = std::exp(value);
  } else {
    out["logprob"] = value;
  }
  return out;
}

}  // namespace

Json timings_json(const RequestAccount& a) {
  const bool any = a.n_output > 0 && !a.token_ms.empty();
  const double prompt_ms =
      any ? a.ttft_ms - stage_ms(a.time, "submit") - stage_ms(a.time, "queue") : a.prefill.forward_ms;
  return timings(a.prefill.n_tokens, prompt_ms, a.n_output, any ? a.token_ms.back() - a.token_ms.front() : 0);
}

Json timings_json(uint64_t n_prompt, const TokenEvent& event, uint64_t n_so_far) {
  return timings(n_prompt, event.prompt_ms, n_so_far, event.predicted_ms);
}

Json accounts_json(const RequestAccount& a, const TimeBudget& whole) {
  return {{"time", json_of(whole)},      {"ttft_ms", a.n_output > 0 ? Json(a.ttft_ms) : Json(nullptr)},
          {"token_ms", a.token_ms},      {"prefill", json_of(a.prefill)},
          {"decode", json_of(a.decode)}, {"n_prompt", a.n_prompt},
          {"n_output", a.n_output}};
}

Json token_probability_json(const AnswerHead& head, const TokenEvent& event, bool post_sampling) {
  Json out = one_probability(head, event.id, event.logprob.value_or(0), post_sampling);
  Json top = Json::array();
  for (const TokenProbability& t : event.top) top.push_back(one_probability(head, t.id, t.logprob, post_sampling));
  out[post_sampling ? "top_probs" : "top_logprobs"] = std::move(top);
  return out;
}

}  // namespace ridge::api
