// What the server says about itself. All of it is cheap: these are answered on the I/O thread, so that they stay quick
// while everything else is busy.
#include "base/result.h"
#include "server/generation_job.h"
#include "server/handlers/handlers.h"

namespace ridge::server {

Answer handle_health(ServerContext&, const HttpRequest&) {
  return HttpReply{.body = api::render_health("ok")};
}

Answer handle_ready(ServerContext& context, const HttpRequest&) {
  if (context.draining) return refuse({.status = 503, .message = "the server is shutting down"});
  return HttpReply{.body = api::render_health("ready")};
}

Answer handle_models(ServerContext& context, const HttpRequest&) {
  return HttpReply{.body = api::render_models(context.engine.model(), context.model_name, context.started_s)};
}

Answer handle_props(ServerContext& context, const HttpRequest&) {
  const ServerOptions& o = context.options;
  return HttpReply{.body = api::render_props({.model = context.engine.model(),
                                              .defaults = o.defaults,
                                              .shown_name = context.model_name,
                                              .n_parallel = o.n_parallel,
                                              .has_metrics = o.metrics,
                                              .has_slots = o.slots})};
}

Answer handle_slots(ServerContext& context, const HttpRequest& request) {
  const ServerOptions& o = context.options;
  if (!o.slots) return refuse({.status = 501, .message = "/slots is switched off (--no-slots)"});
  const auto n_running = static_cast<size_t>(context.engine.stats().n_running);
  if (request.query.find("fail_on_no_slot=1") != std::string::npos && n_running >= static_cast<size_t>(o.n_parallel))
    return refuse({.status = 503, .message = "no slot is free"});
  return HttpReply{.body = api::render_slots(context.live(n_running), o.n_parallel, context.engine.model().n_ctx)};
}

Answer handle_metrics(ServerContext& context, const HttpRequest&) {
  if (!context.options.metrics) return refuse({.status = 501, .message = "/metrics needs --metrics"});
  return HttpReply{.body = context.metrics.text(context.engine.stats(), context.engine.memory()),
                   .content_type = "text/plain; version=0.0.4",
                   .headers = {{"Process-Start-Time-Unix", std::to_string(context.started_s)}}};
}

Answer handle_account(ServerContext& context, const HttpRequest& request) {
  const std::string id = request.path.substr(request.path.rfind('/') + 1);
  // The id with or without the prefix that the endpoint's answer gave it.
  const size_t dash = id.find('-');
  const auto found = context.accounts.find(dash == std::string::npos ? id : id.substr(dash + 1));
  if (!found)
    return refuse({.status = 404,
                   .message = fmt::format("no account of that id: the last {} ended requests are kept",
                                          context.options.limits.n_accounts)});
  return HttpReply{.body = *found};
}

Answer handle_not_built(ServerContext&, const HttpRequest& request) {
  return refuse({.status = 501, .message = fmt::format("{} is known and not supported yet", request.path)});
}

}  // namespace ridge::server
