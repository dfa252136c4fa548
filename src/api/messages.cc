#include "api/messages.h"

#include <array>

#include "api/generation.h"

namespace ridge::api {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"system", "developer", "user", "assistant"};

Result<Message> message_of(const Json& item, size_t index) {
  const std::string where = fmt::format("messages[{}]", index);
  if (!item.is_object())
    return fail(ErrorCode::invalid_argument, "'{}': found {}, expected an object", where, shown(item));
  Fields f(item, where + ".");
  Message m;
  f.text("role", m.role);
  f.refuse("tool_calls", "tool calls are known and not supported yet");
  f.refuse("function_call", "function calls are known and not supported yet");
  RIDGE_CHECK_OK(f.done());
  if (m.role == "tool" || m.role == "function")
    return fail(ErrorCode::invalid_argument, "'{}.role': tool results are known and not supported yet", where);
  if (std::find(kRoles.begin(), kRoles.end(), m.role) == kRoles.end()) {
    return fail(ErrorCode::invalid_argument, "'{}.role': found '{}', expected system, developer, user or assistant",
                where, m.role.substr(0, 40));
  }
  const auto content = item.find("content");
  if (content == item.end() || content->is_null())
    return fail(ErrorCode::invalid_argument, "'{}.content': is missing, expected a text", where);
  RIDGE_TRY(m.content, content_text(*content, where + ".content"));
  return m;
}

}  // namespace

Result<std::string> content_text(const Json& content, std::string_view where) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array())
    return fail(ErrorCode::invalid_argument, "'{}': found {}, expected a text or an array of parts", where,
                shown(content));
  std::string text;
  for (const Json& part : content) {
    const auto type = part.is_object() ? part.find("type") : part.end();
    const bool has_type = part.is_object() && type != part.end() && type->is_string();
    const std::string kind = has_type ? type->get<std::string>() : std::string();
    if (kind != "text" && kind != "input_text" && kind != "output_text") {
      return fail(ErrorCode::invalid_argument,
                  "'{}': found a part {}, expected parts of type 'text'; images and audio "
                  "are not supported",
                  where, shown(part));
    }
    const auto value = part.find("text");
    if (value == part.end() || !value->is_string())
      return fail(ErrorCode::invalid_argument, "'{}': a part of type '{}' has no text", where, kind);
    text += value->get<std::string>();
  }
  return text;
}

void read_messages(Fields& f, std::vector<Message>& messages) {
  const Json* list = f.value("messages");
  if (list == nullptr) return f.error("messages", "is missing, expected an array of messages");
  if (!list->is_array() || list->empty())
    return f.error("messages", fmt::format("found {}, expected an array of at least one message", shown(*list)));
  if (list->size() > kMaxMessages)
    return f.error("messages", fmt::format("found {} messages, expected at most {}", list->size(), kMaxMessages));
  for (const Json& item : *list) {
    auto m = message_of(item, messages.size());
    if (!m) return f.keep(tl::unexpected<Error>(std::move(m.error())));
    messages.push_back(std::move(*m));
  }
}

void read_chat_options(Fields& f, ChatOptions& options) {
  f.boolean("add_generation_prompt", options.add_generation_prompt);
  f.refuse("chat_template", "a request cannot bring its own template");
  f.refuse("continue_final_message", "this field is known and not supported yet");
  const Json* variables = f.value("chat_template_kwargs");
  if (variables == nullptr) return;
  if (!variables->is_object())
    return f.error("chat_template_kwargs", fmt::format("found {}, expected an object", shown(*variables)));
  if (!variables->empty()) options.variables_json = dump(*variables);
}

}  // namespace ridge::api
