// All URLs, in one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "server/handlers/handlers.h"

namespace ridge::server {

struct Route {
  std::string_view method, path;  // a path that ends in "/*" matches one more part
  Answer (*handle)(ServerContext&, const HttpRequest&);
  bool is_public = false;  // answered without a key
  bool is_light = false;   // quick enough for the I/O thread
};

std::span<const Route> routes();

// The route, or the answer that says why there is none: 401 before anything else, 404, 405 with Allow.
std::variant<const Route*, HttpReply> find_route(const ServerContext& context, const HttpRequest& request);

}  // namespace ridge::server
