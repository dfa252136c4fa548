// POST /v1/chat/completions: OpenAI's shape, with llama-server's extra fields.
// Refuses with the field's name: content that is no text, tool calls, tools.
#pragma once

#include <memory>
#include <string_view>

#include "api/generation.h"
#include "ridge/engine.h"

namespace ridge::api {

struct ChatRequest {
  std::vector<Message> messages;
  ChatOptions options;
  Generation generation;
};

// `defaults` is what the server generates with where the request says nothing. Errors: invalid_argument.
Result<ChatRequest> parse_chat(std::string_view body, const Generation& defaults);
std::unique_ptr<AnswerWriter> make_chat_writer(AnswerHead head, const Generation& generation);

}  // namespace ridge::api
