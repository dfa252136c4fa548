#include "server/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <csignal>

#include "base/result.h"
#include "server/connection.h"

namespace ridge::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct Server::Impl {
  Impl(Engine& engine, ServerOptions options)
      : context(engine, std::move(options)),
        workers(static_cast<size_t>(std::max(1, context.options.n_threads))),
        acceptor(io),
        retry(io),
        deadline(io),
        signals(io),
        connections(context) {
    connections.on_empty = [this] { finish_if_drained(); };
  }

  Result<void> listen() {
    const ServerOptions& o = context.options;
    error_code ec;
    tcp::resolver resolver(io);
    const auto found = resolver.resolve(o.host, std::to_string(o.port), tcp::resolver::passive, ec);
    if (ec || found.empty())
      return fail(ErrorCode::invalid_argument, "--host: cannot find the address '{}': {}", o.host, ec.message());
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec) acceptor.bind(endpoint, ec);
    if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) return fail(ErrorCode::io, "cannot listen on {}:{}: {}", o.host, o.port, ec.message());
    return {};
  }

  void accept() {
    acceptor.async_accept([this](const error_code& ec, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (!ec) {
        connections.start(std::move(socket), workers);
        return accept();
      }
      // Out of descriptors, most likely: others will be closed.
      retry.expires_after(std::chrono::milliseconds(100));
      retry.async_wait([this](const error_code& cancelled) {
        if (!cancelled) accept();
      });
    });
  }

  // The first call drains; the second does not wait.
  void stop() {
    const bool again = context.draining.exchange(true);
    error_code ignored;
    acceptor.close(ignored);
    retry.cancel();
    connections.close_idle();
    if (again) return cancel_all();
    deadline.expires_after(std::chrono::milliseconds(static_cast<int64_t>(context.options.limits.drain_s * 1000)));
    deadline.async_wait([this](const error_code& cancelled) {
      if (!cancelled) cancel_all();
    });
    finish_if_drained();
  }

  // What still runs gets its terminal event; what does not take it is closed.
  void cancel_all() {
    connections.cancel_jobs();
    deadline.expires_after(std::chrono::seconds(2));
    deadline.async_wait([this](const error_code& cancelled) {
      if (!cancelled) connections.close_all();
    });
  }

  void finish_if_drained() {
    if (!context.draining || !connections.empty()) return;
    deadline.cancel();
    error_code ignored;
    signals.cancel(ignored);
  }

  void wait_for_signal() {
    signals.async_wait([this](const error_code& ec, int) {
      if (ec) return;
      stop();
      if (!connections.empty()) wait_for_signal();
    });
  }

  asio::io_context io{1};
  ServerContext context;
  asio::thread_pool workers;
  tcp::acceptor acceptor;
  asio::steady_timer retry, deadline;
  asio::signal_set signals;
  Connections connections;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// Nobody runs the I/O thread any more; what workers still do is waited for, so that nothing refers to the engine.
Server::~Server() {
  impl_->workers.join();
}

Result<std::unique_ptr<Server>> Server::create(Engine& engine, ServerOptions options) {
  auto impl = std::make_unique<Impl>(engine, std::move(options));
  RIDGE_CHECK_OK(impl->listen());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const {
  error_code ec;
  const tcp::endpoint endpoint = impl_->acceptor.local_endpoint(ec);
  return ec ? impl_->context.options.port : endpoint.port();
}

void Server::run(bool take_signals) {
  Impl& s = *impl_;
  error_code ignored;
  if (take_signals) {
    s.signals.add(SIGINT, ignored);
    s.signals.add(SIGTERM, ignored);
    s.wait_for_signal();
  }
  s.accept();
  s.io.run();
}

void Server::shutdown() {
  asio::post(impl_->io, [this] { impl_->stop(); });
}

}  // namespace ridge::server
