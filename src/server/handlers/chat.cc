// The chat endpoints: POST /v1/chat/completions, and Anthropic's POST /v1/messages with count_tokens.
#include "api/openai/chat.h"
#include "api/anthropic/messages.h"
#include "server/generation_job.h"
#include "server/handlers/handlers.h"

namespace ridge::server {
namespace {

using RenderError = std::string (*)(const api::Refusal&);

Answer chat(ServerContext& context, const HttpRequest& request,
            Result<api::ChatRequest> (*parse)(std::string_view, const api::Generation&), MakeWriter writer,
            RenderError render_error) {
  GenerationPlan plan;
  plan.endpoint = request.path;
  plan.render_error = render_error;
  const int64_t start = now_ns();
  auto parsed = parse(request.body, context.options.defaults);
  const int64_t parsed_ns = now_ns();
  if (!parsed) return refuse(api::refusal_of(parsed.error()), render_error);
  auto prompt = context.engine.chat_prompt(parsed->messages, parsed->options);
  if (!prompt) return refuse(api::refusal_of(prompt.error()), render_error);
  const int64_t rendered_ns = parsed_ns + static_cast<int64_t>(prompt->render_ms * 1e6);
  plan.book.add(Stage::parse, start, parsed_ns);
  plan.book.add(Stage::render_template, parsed_ns, rendered_ns);
  plan.book.add(Stage::tokenise, rendered_ns, now_ns());
  plan.generation = std::move(parsed->generation);
  plan.prompts.push_back(std::move(prompt->tokens));
  plan.prompt_texts.emplace_back();
  plan.text_continues = false;
  plan.make_writer = writer;
  return start_generation(context, request, std::move(plan));
}

}  // namespace

Answer handle_chat(ServerContext& context, const HttpRequest& request) {
  return chat(context, request, api::parse_chat, api::make_chat_writer, api::render_error);
}

Answer handle_anthropic(ServerContext& context, const HttpRequest& request) {
  return chat(context, request, api::parse_anthropic, api::make_anthropic_writer, api::render_error_anthropic);
}

Answer handle_anthropic_count(ServerContext& context, const HttpRequest& request) {
  const auto parsed = api::parse_anthropic_count(request.body);
  if (!parsed) return refuse(api::refusal_of(parsed.error()), api::render_error_anthropic);
  const auto prompt = context.engine.chat_prompt(parsed->messages, parsed->options);
  if (!prompt) return refuse(api::refusal_of(prompt.error()), api::render_error_anthropic);
  return HttpReply{.body = api::render_count(prompt->tokens.size())};
}

}  // namespace ridge::server
