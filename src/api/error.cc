#include "api/error.h"

#include "api/json.h"

namespace ridge::api {
namespace {

struct StatusType {
  int status;
  std::string_view type, anthropic;
};
constexpr StatusType kTypes[] = {
    {400, "invalid_request_error", "invalid_request_error"}, {401, "authentication_error", "authentication_error"},
    {403, "permission_error", "permission_error"},           {404, "not_found_error", "not_found_error"},
    {405, "invalid_request_error", "invalid_request_error"}, {408, "invalid_request_error", "invalid_request_error"},
    {413, "invalid_request_error", "request_too_large"},     {414, "invalid_request_error", "invalid_request_error"},
    {415, "invalid_request_error", "invalid_request_error"}, {429, "rate_limit_error", "rate_limit_error"},
    {431, "invalid_request_error", "invalid_request_error"}, {501, "not_supported_error", "api_error"},
    {503, "unavailable_error", "overloaded_error"},
};

const StatusType& type_of(int status) {
  for (const StatusType& t : kTypes) {
    if (t.status == status) return t;
  }
  static constexpr StatusType kServer = {500, "server_error", "api_error"};
  return kServer;
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::context_exceeded:
    case ErrorCode::template_error:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::limit:
      return 429;
    case ErrorCode::cancelled:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

Refusal refusal_of(const Error& error) {
  Refusal r{.status = status_of(error.code), .message = error.message, .param = {}};
  if (error.message.starts_with('\'')) {
    const size_t end = error.message.find("':");
    if (end != std::string::npos) r.param = error.message.substr(1, end - 1);
  }
  return r;
}

std::string render_error(const Refusal& r) {
  const bool too_long = r.n_ctx >= 0;
  Json e = {{"code", r.status}, {"message", r.message}};
  e["type"] = too_long ? "exceed_context_size_error" : type_of(r.status).type;
  e["param"] = r.param.empty() ? Json(nullptr) : Json(r.param);
  if (too_long) {
    e["n_prompt_tokens"] = r.n_prompt_tokens;
    e["n_ctx"] = r.n_ctx;
  }
  return dump(Json{{"error", std::move(e)}});
}

std::string render_error_anthropic(const Refusal& r) {
  return dump(Json{{"type", "error"}, {"error", {{"type", type_of(r.status).anthropic}, {"message", r.message}}}});
}

}  // namespace ridge::api
