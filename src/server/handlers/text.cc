// /tokenize, /detokenize, /apply-template: what needs the tokeniser or the template and no forward pass.
#include "api/native/tools.h"
#include "base/result.h"
#include "server/generation_job.h"
#include "server/handlers/handlers.h"

namespace ridge::server {

Answer handle_tokenize(ServerContext& context, const HttpRequest& request) {
  const auto parsed = api::parse_tokenize(request.body);
  if (!parsed) return refuse(parsed.error());
  const auto ids = context.engine.tokenize(parsed->content, parsed->add_special, parsed->parse_special);
  if (!ids) return refuse(ids.error());
  std::vector<std::string> pieces;
  for (size_t i = 0; parsed->with_pieces && i < ids->size(); ++i)
    pieces.push_back(context.engine.token_bytes((*ids)[i]));
  return HttpReply{.body = api::render_tokens(*ids, pieces)};
}

Answer handle_detokenize(ServerContext& context, const HttpRequest& request) {
  const auto ids = api::parse_detokenize(request.body);
  if (!ids) return refuse(ids.error());
  for (const int32_t id : *ids) {
    if (id >= context.engine.model().n_vocab)
      return refuse(Error{ErrorCode::invalid_argument,
                          fmt::format("'tokens': found {}, expected 0 to {}", id, context.engine.model().n_vocab - 1)});
  }
  return HttpReply{.body = api::render_content(context.engine.detokenize(*ids, true))};
}

Answer handle_apply_template(ServerContext& context, const HttpRequest& request) {
  const auto parsed = api::parse_apply_template(request.body);
  if (!parsed) return refuse(parsed.error());
  const auto prompt = context.engine.chat_prompt(parsed->messages, parsed->options);
  if (!prompt) return refuse(prompt.error());
  return HttpReply{.body = api::render_prompt(prompt->text)};
}

}  // namespace ridge::server
