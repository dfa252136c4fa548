// POST /v1/messages and /v1/messages/count_tokens: Anthropic's shape.
// Refuses with the field's name: a missing max_tokens (it is required there), tools, thinking, content that is no text.
#pragma once

#include <memory>
#include <string_view>

#include "api/openai/chat.h"

namespace ridge::api {

// Errors: invalid_argument.
Result<ChatRequest> parse_anthropic(std::string_view body, const Generation& defaults);
// The same without what only generating needs.
Result<ChatRequest> parse_anthropic_count(std::string_view body);
std::string render_count(size_t n_tokens);
std::unique_ptr<AnswerWriter> make_anthropic_writer(AnswerHead head, const Generation& generation);

}  // namespace ridge::api
