// Messages to a prompt: the template's variables, its rendering, and token ids with control tokens only where the
// template wrote them.
#pragma once

#include "engine/loader.h"
#include "ridge/engine.h"

namespace ridge {

// Errors: unsupported (no template, or one that cannot be parsed: why), template_error, invalid_argument
// (variables_json).
Result<ChatPrompt> make_chat_prompt(const LoadedModel& model, std::span<const Message> messages,
                                    const ChatOptions& options);

}  // namespace ridge
