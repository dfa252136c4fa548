#include "engine/chat.h"

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace ridge {
namespace {

using jinja::Value;

// What a caller's variables may not replace: they decide who speaks and where a turn begins.
constexpr std::array<std::string_view, 7> kReserved = {
    "messages", "tools", "documents", "tokenize", "add_generation_prompt", "bos_token", "eos_token"};
// Roles that templates join into control tokens, as the roles they are; any other role is a person's text.
constexpr std::array<std::string_view, 5> kRoles = {"system", "user", "assistant", "tool", "developer"};

std::string token_text(const Tokenizer& t, const std::optional<int32_t>& id) {
  return id ? std::string(t.piece(*id, true)) : std::string();
}

Result<Value> variables_of(const LoadedModel& model, std::span<const Message> messages, const ChatOptions& options) {
  std::vector<Value> list;
  for (const Message& m : messages) {
    const bool known = std::find(kRoles.begin(), kRoles.end(), m.role) != kRoles.end();
    list.push_back(
        Value::dict({{Value::trusted_string("role"), known ? Value::trusted_string(m.role) : Value::string(m.role)},
                     {Value::trusted_string("content"), Value::string(m.content)}}));
  }
  const Tokenizer& t = *model.tokenizer;
  std::vector<std::pair<Value, Value>> all = {
      {Value::trusted_string("messages"), Value::list(std::move(list))},
      {Value::trusted_string("add_generation_prompt"), Value::boolean(options.add_generation_prompt)},
      {Value::trusted_string("bos_token"), Value::trusted_string(token_text(t, t.special().bos))},
      {Value::trusted_string("eos_token"), Value::trusted_string(token_text(t, t.special().eos))}};
  if (!options.variables_json.empty()) {
    auto extra = jinja::value_from_json(options.variables_json);
    if (!extra) return tl::unexpected<Error>(in_context("template variables", extra.error()));
    if (!extra->is(jinja::Kind::dict))
      return fail(ErrorCode::invalid_argument, "template variables: expected a JSON object");
    for (const auto& [key, value] : extra->as_dict().entries) {
      if (std::find(kReserved.begin(), kReserved.end(), key.bytes()) != kReserved.end()) {
        return fail(ErrorCode::invalid_argument,
                    "template variables: '{}' is set by the program and cannot be replaced", key.bytes());
      }
      all.emplace_back(key, value);
    }
  }
  return Value::dict(std::move(all));
}

}  // namespace

Result<ChatPrompt> make_chat_prompt(const LoadedModel& model, std::span<const Message> messages,
                                    const ChatOptions& options) {
  const int64_t start = now_ns();
  if (!model.chat_template) {
    if (!model.template_error.empty())
      return fail(ErrorCode::unsupported, "the model's chat template cannot be used: {}", model.template_error);
    return fail(ErrorCode::unsupported,
                "the model has no chat template: use plain completion, or give a template (--chat-template-text)");
  }
  RIDGE_TRY(const Value variables, variables_of(model, messages, options));
  RIDGE_TRY(const std::vector<jinja::Segment> segments, model.chat_template->render_segments(variables));
  ChatPrompt prompt;
  std::vector<TextSegment> views;
  for (const jinja::Segment& s : segments) {
    prompt.text += s.text;
    views.push_back({s.text, s.trusted});
  }
  prompt.render_ms = ms_from_ns(now_ns() - start);
  // Most templates write the first token themselves; adding another would be a second one.
  const Tokenizer& t = *model.tokenizer;
  const std::string bos = token_text(t, t.special().bos);
  const bool add = t.adds_bos() && (bos.empty() || prompt.text.rfind(bos, 0) != 0);
  RIDGE_TRY(prompt.tokens, t.encode_segments(views, add));
  return prompt;
}

}  // namespace ridge
