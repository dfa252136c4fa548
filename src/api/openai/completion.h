// POST /v1/completions: OpenAI's text completion, with llama-server's extra fields; prompts as text or as token ids.
// Refuses with the field's name: echo together with logprobs (no log-probabilities of prompt tokens yet), suffix.
#pragma once

#include <memory>
#include <string_view>

#include "api/generation.h"

namespace ridge::api {

struct CompletionRequest {
  std::vector<Prompt> prompts;
  Generation generation;
};

// Errors: invalid_argument.
Result<CompletionRequest> parse_completion(std::string_view body, const Generation& defaults);
std::unique_ptr<AnswerWriter> make_completion_writer(AnswerHead head, const Generation& generation);

}  // namespace ridge::api
