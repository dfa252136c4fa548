// Messages of a conversation, as every chat endpoint reads them; inside src/api only.
#pragma once

#include "api/json.h"
#include "ridge/engine.h"

namespace ridge::api {

// A text, or an array of {"type":"text","text":...} parts, which are joined. `where` names it in errors.
Result<std::string> content_text(const Json& content, std::string_view where);
// The array `messages`, and what belongs to the template: chat_template_kwargs, add_generation_prompt.
void read_messages(Fields& fields, std::vector<Message>& messages);
void read_chat_options(Fields& fields, ChatOptions& options);

}  // namespace ridge::api
