// POST /completion: llama-server's own shape.
#pragma once

#include <memory>
#include <string_view>

#include "api/openai/completion.h"

namespace ridge::api {

// Errors: invalid_argument.
Result<CompletionRequest> parse_native_completion(std::string_view body, const Generation& defaults);
std::unique_ptr<AnswerWriter> make_native_writer(AnswerHead head, const Generation& generation);
// The sampling parameters and limits as llama-server echoes them: `generation_settings`, /props, /slots.
std::string settings_text(const Generation& generation);

}  // namespace ridge::api
