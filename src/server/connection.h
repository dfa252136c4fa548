// One client's connection: reads requests one after another under deadlines, answers each, notices when the client
// leaves. I/O thread only, except where a method says otherwise. Asio types: only server.cc and connection.cc include
// this.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <set>

#include "server/context.h"
#include "server/http.h"

namespace ridge::server {

class Connection;

// All open connections. I/O thread only.
class Connections {
 public:
  explicit Connections(ServerContext& context) : context_(context) {}
  // Serves the socket until it closes; refuses it when there are too many.
  void start(boost::asio::ip::tcp::socket socket, boost::asio::thread_pool& workers);
  void remove(const std::shared_ptr<Connection>& connection);
  void close_idle();
  void cancel_jobs();
  void close_all();
  bool empty() const { return open_.empty(); }
  // Called whenever the last one has closed.
  std::function<void()> on_empty;

 private:
  ServerContext& context_;
  std::set<std::shared_ptr<Connection>> open_;
};

}  // namespace ridge::server
