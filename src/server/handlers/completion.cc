// POST /v1/completions and llama-server's POST /completion.
#include "api/native/completion.h"
#include "server/generation_job.h"
#include "server/handlers/handlers.h"

namespace ridge::server {
namespace {

Answer complete(ServerContext& context, const HttpRequest& request,
                Result<api::CompletionRequest> (*parse)(std::string_view, const api::Generation&), MakeWriter writer) {
  GenerationPlan plan;
  plan.endpoint = request.path;
  const int64_t start = now_ns();
  auto parsed = parse(request.body, context.options.defaults);
  const int64_t parsed_ns = now_ns();
  if (!parsed) return refuse(parsed.error());
  for (api::Prompt& p : parsed->prompts) {
    if (p.is_tokens) {
      plan.prompt_texts.push_back(parsed->generation.echo ? context.engine.detokenize(p.tokens, false) : p.text);
    } else {
      auto ids = context.engine.tokenize(p.text, true, true);
      if (!ids) return refuse(ids.error());
      p.tokens = std::move(*ids);
      plan.prompt_texts.push_back(std::move(p.text));
    }
    if (p.tokens.empty())
      return refuse(Error{ErrorCode::invalid_argument, "'prompt': is empty, expected at least one token"});
    plan.prompts.push_back(std::move(p.tokens));
  }
  plan.book.add(Stage::parse, start, parsed_ns);
  plan.book.add(Stage::tokenise, parsed_ns, now_ns());
  plan.generation = std::move(parsed->generation);
  plan.make_writer = writer;
  return start_generation(context, request, std::move(plan));
}

}  // namespace

Answer handle_completion(ServerContext& context, const HttpRequest& request) {
  return complete(context, request, api::parse_completion, api::make_completion_writer);
}

Answer handle_native_completion(ServerContext& context, const HttpRequest& request) {
  return complete(context, request, api::parse_native_completion, api::make_native_writer);
}

}  // namespace ridge::server
