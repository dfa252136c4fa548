// The HTTP server: one I/O thread (the caller of run()), a few threads that parse and tokenise, and the engine's
// thread. Refuses, with its own status, whatever passes a limit (options.h). No request ends the process; a client that
// leaves cancels what it asked for. Truth: RFC 9112 (framing), RFC 9110 (statuses), the HTML standard (server-sent
// events).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ridge/engine.h"
#include "server/options.h"

namespace ridge::server {

class Server {
 public:
  // Listens when it returns. The engine outlives the server. Errors: invalid_argument (host), io (the address is
  // taken).
  static Result<std::unique_ptr<Server>> create(Engine& engine, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  // Serves until shutdown(), or SIGINT or SIGTERM where the process leaves them to it, has drained the server.
  void run(bool take_signals);
  // Any thread. No new connections, ready says no; what runs may end until the drain deadline, then it is cancelled. A
  // second call cancels at once.
  void shutdown();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridge::server
