#include "server/routes.h"

#include "base/result.h"
#include "server/generation_job.h"

namespace ridge::server {
namespace {

constexpr bool kPublic = true, kKeyed = false, kLight = true, kWork = false;

constexpr Route kRoutes[] = {
    {"GET", "/health", handle_health, kPublic, kLight},
    {"GET", "/v1/health", handle_health, kPublic, kLight},
    {"GET", "/ready", handle_ready, kPublic, kLight},
    {"GET", "/models", handle_models, kKeyed, kLight},
    {"GET", "/v1/models", handle_models, kKeyed, kLight},
    {"GET", "/props", handle_props, kKeyed, kLight},
    {"GET", "/slots", handle_slots, kKeyed, kLight},
    {"GET", "/metrics", handle_metrics, kKeyed, kLight},
    {"GET", "/v1/accounts/*", handle_account, kKeyed, kLight},
    {"POST", "/tokenize", handle_tokenize, kKeyed, kWork},
    {"POST", "/detokenize", handle_detokenize, kKeyed, kWork},
    {"POST", "/apply-template", handle_apply_template, kKeyed, kWork},
    {"POST", "/completion", handle_native_completion, kKeyed, kWork},
    {"POST", "/completions", handle_native_completion, kKeyed, kWork},
    {"POST", "/v1/completions", handle_completion, kKeyed, kWork},
    {"POST", "/chat/completions", handle_chat, kKeyed, kWork},
    {"POST", "/v1/chat/completions", handle_chat, kKeyed, kWork},
    {"POST", "/v1/messages", handle_anthropic, kKeyed, kWork},
    {"POST", "/v1/messages/count_tokens", handle_anthropic_count, kKeyed, kWork},
    {"POST", "/responses", handle_not_built, kKeyed, kLight},
    {"POST", "/v1/responses", handle_not_built, kKeyed, kLight},
    {"POST", "/infill", handle_not_built, kKeyed, kLight},
    {"POST", "/embedding", handle_not_built, kKeyed, kLight},
    {"POST", "/embeddings", handle_not_built, kKeyed, kLight},
    {"POST", "/v1/embeddings", handle_not_built, kKeyed, kLight},
    {"POST", "/rerank", handle_not_built, kKeyed, kLight},
    {"POST", "/v1/rerank", handle_not_built, kKeyed, kLight},
};

bool matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with("/*")) return pattern == path;
  const std::string_view stem = pattern.substr(0, pattern.size() - 1);
  return path.starts_with(stem) && path.size() > stem.size() && path.find('/', stem.size()) == std::string_view::npos;
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

std::variant<const Route*, HttpReply> find_route(const ServerContext& context, const HttpRequest& request) {
  const Route* found = nullptr;
  bool is_public = false;
  std::string allowed;
  for (const Route& r : kRoutes) {
    if (!matches(r.path, request.path)) continue;
    is_public = is_public || r.is_public;
    // A HEAD is a GET whose body is not sent.
    if (r.method == request.method || (r.method == "GET" && request.method == "HEAD")) found = &r;
    allowed += (allowed.empty() ? "" : ", ") + std::string(r.method);
  }
  // Without a key nobody learns which paths exist.
  if (!is_public && !context.keys.allows(request)) {
    HttpReply reply = refuse({.status = 401, .message = "a valid API key is needed: Authorization: Bearer KEY"});
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }
  if (found != nullptr) return found;
  if (allowed.empty())
    return refuse({.status = 404, .message = fmt::format("no such path: '{}'", request.path.substr(0, 200))});
  HttpReply reply = refuse({.status = 405, .message = fmt::format("{} takes {}", request.path, allowed)});
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

}  // namespace ridge::server
