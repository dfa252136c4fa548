// The endpoints' handlers; routes.cc lists them with their paths. Each takes a request whose body is whole, and gives
// an answer. Thread-safety: any thread; what they share is in ServerContext.
#pragma once

#include "server/context.h"
#include "server/http.h"

namespace ridge::server {

// chat.cc, completion.cc
Answer handle_chat(ServerContext& context, const HttpRequest& request);
Answer handle_anthropic(ServerContext& context, const HttpRequest& request);
Answer handle_anthropic_count(ServerContext& context, const HttpRequest& request);
Answer handle_completion(ServerContext& context, const HttpRequest& request);
Answer handle_native_completion(ServerContext& context, const HttpRequest& request);

// text.cc
Answer handle_tokenize(ServerContext& context, const HttpRequest& request);
Answer handle_detokenize(ServerContext& context, const HttpRequest& request);
Answer handle_apply_template(ServerContext& context, const HttpRequest& request);

// info.cc
Answer handle_health(ServerContext& context, const HttpRequest& request);
Answer handle_ready(ServerContext& context, const HttpRequest& request);
Answer handle_models(ServerContext& context, const HttpRequest& request);
Answer handle_props(ServerContext& context, const HttpRequest& request);
Answer handle_slots(ServerContext& context, const HttpRequest& request);
Answer handle_metrics(ServerContext& context, const HttpRequest& request);
Answer handle_account(ServerContext& context, const HttpRequest& request);
Answer handle_not_built(ServerContext& context, const HttpRequest& request);

}  // namespace ridge::server
