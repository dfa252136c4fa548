// `usage` and `finish_reason` of OpenAI's interface; inside src/api only.
#pragma once

#include "api/json.h"
#include "ridge/request.h"

namespace ridge::api {

// A prompt counts once, however many choices it has. Choices of one prompt stand next to each other.
class Usage {
 public:
  explicit Usage(size_t choices_per_prompt) : choices_per_prompt_(choices_per_prompt) {}
  void add(size_t choice, const RequestAccount& a) {
    if (choice % choices_per_prompt_ == 0) n_prompt_ += a.n_prompt;
    n_output_ += a.n_output;
  }
  Json json() const {
    return {{"completion_tokens", n_output_},
            {"prompt_tokens", n_prompt_},
            {"total_tokens", n_prompt_ + n_output_},
            {"prompt_tokens_details", {{"cached_tokens", 0}}}};
  }

 private:
  size_t choices_per_prompt_;
  uint64_t n_prompt_ = 0, n_output_ = 0;
};

inline std::string finish_reason(FinishReason reason) {
  return reason == FinishReason::max_tokens || reason == FinishReason::context_full ? "length" : "stop";
}

}  // namespace ridge::api
