// POST /v1/chat/completions.
#include "api/openai/chat.h"
#include "server/generation_job.h"
#include "server/handlers/handlers.h"

namespace ridge::server {

Answer handle_chat(ServerContext& context, const HttpRequest& request) {
  GenerationPlan plan;
  plan.endpoint = request.path;
  const int64_t start = now_ns();
  auto parsed = api::parse_chat(request.body, context.options.defaults);
  const int64_t parsed_ns = now_ns();
  if (!parsed) return refuse(parsed.error());
  auto prompt = context.engine.chat_prompt(parsed->messages, parsed->options);
  if (!prompt) return refuse(prompt.error());
  const int64_t rendered_ns = parsed_ns + static_cast<int64_t>(prompt->render_ms * 1e6);
  plan.book.add(Stage::parse, start, parsed_ns);
  plan.book.add(Stage::render_template, parsed_ns, rendered_ns);
  plan.book.add(Stage::tokenise, rendered_ns, now_ns());
  plan.generation = std::move(parsed->generation);
  plan.prompts.push_back(std::move(prompt->tokens));
  plan.prompt_texts.emplace_back();
  plan.text_continues = false;
  plan.make_writer = api::make_chat_writer;
  return start_generation(context, request, std::move(plan));
}

}  // namespace ridge::server
