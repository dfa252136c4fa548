// Framing is Beast's; what Beast lets pass and must not pass is in check_head(): transfer codings other than a plain
// "chunked", several lengths, a missing Host.
#include "server/connection.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "server/generation_job.h"
#include "server/routes.h"

namespace ridge::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Parser = http::request_parser<http::string_body>;

namespace {

std::chrono::nanoseconds seconds(double s) {
  return std::chrono::nanoseconds(static_cast<int64_t>(s * 1e9));
}

// What wakes a connection that waits for its job: events of the engine, or the client's leaving.
struct Waiter {
  explicit Waiter(asio::any_io_executor executor) : timer(std::move(executor)) {}

  // Any thread. Several calls before the wake-up are one.
  void notify(const std::shared_ptr<Waiter>& self) {
    if (posted.exchange(true)) return;
    asio::post(timer.get_executor(), [self] {
      self->posted = false;
      self->signalled = true;
      self->timer.cancel();
    });
  }
  void client_left() {
    gone = true;
    timer.cancel();
  }

  asio::steady_timer timer;
  std::atomic<bool> posted{false};
  bool signalled = false, gone = false;  // I/O thread
};

HttpRequest plain_request(const Parser& parser, int64_t received_ns) {
  const auto& m = parser.get();
  HttpRequest r;
  r.method = std::string(m.method_string());
  const std::string_view target(m.target().data(), m.target().size());
  const size_t mark = target.find('?');
  r.path = std::string(target.substr(0, mark));
  if (mark != std::string_view::npos) r.query = std::string(target.substr(mark + 1));
  r.authorization = std::string(m[http::field::authorization]);
  r.x_api_key = std::string(m["X-Api-Key"]);
  r.received_ns = received_ns;
  return r;
}

// What Beast accepts and a second reader of the same bytes might read otherwise.
std::optional<HttpReply> check_head(const Parser& parser, const Limits& limits) {
  const auto& m = parser.get();
  const auto bad = [](int status, std::string message) { return refuse({.status = status, .message = message}); };
  if (m.target().size() > limits.target_bytes)
    return bad(414,
               fmt::format("the target has {} bytes, at most {} are read", m.target().size(), limits.target_bytes));
  if (m.target().empty() || m.target().front() != '/') return bad(400, "the target must begin with '/'");
  const auto n_headers = static_cast<size_t>(std::distance(m.begin(), m.end()));
  if (n_headers > limits.n_headers)
    return bad(431, fmt::format("{} header fields, at most {} are read", n_headers, limits.n_headers));
  if (m.version() != 11 && m.version() != 10) return bad(400, "only HTTP/1.1 and HTTP/1.0 are spoken");
  if (m.version() == 11 && m.count(http::field::host) != 1)
    return bad(400, fmt::format("{} Host fields, expected one", m.count(http::field::host)));
  const auto n_codings = m.count(http::field::transfer_encoding);
  if (n_codings > 0 && (n_codings > 1 || m.count(http::field::content_length) > 0 || m.version() == 10 ||
                        !beast::iequals(m[http::field::transfer_encoding], "chunked"))) {
    return bad(400, "Transfer-Encoding: only a single 'chunked', without Content-Length, is read");
  }
  if (m.count(http::field::content_length) > 1) return bad(400, "several Content-Length fields");
  if (const auto coding = m[http::field::content_encoding]; !coding.empty() && !beast::iequals(coding, "identity"))
    return bad(415, "Content-Encoding: the body must not be compressed");
  return std::nullopt;
}

// The answer to bytes that are no request; nullopt: there is nobody to tell, or nothing to say.
std::optional<HttpReply> answer_to(const error_code& ec, const Limits& limits) {
  if (ec == http::error::end_of_stream || ec == http::error::partial_message || ec == beast::error::timeout)
    return std::nullopt;
  if (ec.category() != http::make_error_code(http::error::bad_value).category()) return std::nullopt;
  if (ec == http::error::header_limit)
    return refuse({.status = 431, .message = fmt::format("the head has more than {} bytes", limits.header_bytes)});
  if (ec == http::error::body_limit)
    return refuse({.status = 413, .message = fmt::format("the body has more than {} bytes", limits.body_bytes)});
  return refuse({.status = 400, .message = fmt::format("this is no HTTP/1.1 request: {}", ec.message())});
}

}  // namespace

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, ServerContext& context, asio::thread_pool& workers)
      : stream_(std::move(socket)), context_(context), workers_(workers) {}

  static asio::awaitable<void> serve(std::shared_ptr<Connection> self) {
    while (!self->context_.draining) {
      const bool goes_on = co_await self->one_request();
      if (!goes_on) break;
    }
    error_code ignored;
    self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    co_await self->drop_rest();
    self->stream_.socket().close(ignored);
  }

  bool is_idle() const { return is_idle_; }
  void cancel_job() {
    if (job_ != nullptr) job_->cancel();
  }
  void close() {
    error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  asio::awaitable<bool> one_request() {
    const Limits& limits = context_.options.limits;
    error_code ec;
    is_idle_ = true;
    if (buffer_.size() == 0) {
      stream_.expires_after(seconds(is_first_ ? limits.header_deadline_s : limits.idle_deadline_s));
      const size_t n =
          co_await stream_.async_read_some(buffer_.prepare(4096), asio::redirect_error(asio::use_awaitable, ec));
      if (ec) co_return false;
      buffer_.commit(n);
    }
    is_idle_ = is_first_ = false;
    const int64_t received_ns = now_ns();
    Parser parser;
    parser.header_limit(limits.header_bytes);
    parser.body_limit(limits.body_bytes);
    stream_.expires_after(seconds(limits.header_deadline_s));
    co_await http::async_read_header(stream_, buffer_, parser, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
      auto reply = answer_to(ec, limits);
      if (reply) co_await write_reply(*reply, false, false);
      co_return false;
    }
    context_.metrics.received();
    HttpRequest request = plain_request(parser, received_ns);
    keep_alive_ = parser.get().keep_alive();
    const bool is_head = request.method == "HEAD";
    auto refusal = check_head(parser, limits);
    const Route* route = nullptr;
    if (!refusal) {
      auto found = find_route(context_, request);
      if (auto* reply = std::get_if<HttpReply>(&found)) refusal = std::move(*reply);
      if (auto* r = std::get_if<const Route*>(&found)) route = *r;
    }
    if (refusal) {
      // A body that was not read would be taken for the next request.
      const bool goes_on = keep_alive_ && parser.is_done() && refusal->status < 420 && refusal->status != 400;
      co_await write_reply(*refusal, goes_on, is_head);
      co_return goes_on;
    }
    const bool whole = co_await read_body(parser);
    if (!whole) co_return false;
    request.body = std::move(parser.get().body());
    co_return co_await answer(*route, std::move(request), is_head, parser.get().version() == 11);
  }

  asio::awaitable<bool> read_body(Parser& parser) {
    const Limits& limits = context_.options.limits;
    error_code ec;
    stream_.expires_after(seconds(limits.body_deadline_s));
    if (!parser.is_done() && beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(stream_, asio::buffer(kContinue), asio::redirect_error(asio::use_awaitable, ec));
      if (ec) co_return false;
    }
    co_await http::async_read(stream_, buffer_, parser, asio::redirect_error(asio::use_awaitable, ec));
    if (!ec) co_return true;
    auto reply = answer_to(ec, limits);
    if (reply) co_await write_reply(*reply, false, false);
    co_return false;
  }

  asio::awaitable<bool> answer(const Route& route, HttpRequest request, bool is_head, bool is_http_1_1) {
    Answer result;
    if (route.is_light) {
      result = route.handle(context_, request);
    } else if (context_.draining) {
      result = refuse({.status = 503, .message = "the server is shutting down"});
    } else {
      // Templates and long texts take their time; the I/O thread has other clients.
      co_await asio::co_spawn(workers_, on_worker(route, context_, request, result), asio::use_awaitable);
    }
    if (auto* reply = std::get_if<HttpReply>(&result)) {
      const bool goes_on = keep_alive_ && !context_.draining;
      co_await write_reply(*reply, goes_on, is_head);
      co_return goes_on;
    }
    job_ = std::move(std::get<std::unique_ptr<Job>>(result));
    const bool goes_on = co_await serve_job(is_http_1_1);
    job_.reset();
    co_return goes_on;
  }

  static asio::awaitable<void> on_worker(const Route& route, ServerContext& context, const HttpRequest& request,
                                         Answer& result) {
    result = route.handle(context, request);
    co_return;
  }

  asio::awaitable<bool> serve_job(bool is_http_1_1) {
    const Limits& limits = context_.options.limits;
    auto waiter = std::make_shared<Waiter>(stream_.get_executor());
    job_->on_event([waiter] { waiter->notify(waiter); });
    watch(waiter);
    const bool streams = job_->streams();
    bool alive = true, done = false;
    if (streams) alive = co_await write_stream_head(is_http_1_1);
    while (alive && !done) {
      Job::Part part = job_->poll();
      done = part.done;
      if (!streams && done) {
        HttpReply reply{.status = job_->status(), .body = std::move(part.bytes), .headers = job_->headers()};
        const bool goes_on = keep_alive_ && !context_.draining;
        alive = co_await write_reply(reply, goes_on, false);
        keep_alive_ = goes_on;
      } else if (streams && !part.bytes.empty()) {
        alive = co_await write_part(part.bytes, is_http_1_1);
      }
      if (done || !alive) break;
      const bool woken = co_await wait(*waiter, limits.ping_s);
      alive = !waiter->gone;
      if (alive && !woken && streams) alive = co_await write_part(":\n\n", is_http_1_1);
    }
    job_->on_event({});
    error_code ignored;
    stream_.socket().cancel(ignored);  // the watch
    if (!alive) job_->cancel();
    if (streams && done && alive) alive = co_await end_stream(is_http_1_1);
    co_return alive&& done&& keep_alive_ && !context_.draining && (!streams || is_http_1_1);
  }

  // A client that closes its side has left. Bytes that are there are its next request: then only a failing write tells.
  void watch(const std::shared_ptr<Waiter>& waiter) {
    stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), waiter](const error_code& ec) {
      if (ec) return;
      char byte;
      error_code peeked;
      const size_t n = self->stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, peeked);
      if (peeked || n == 0) waiter->client_left();
    });
  }

  // True when there is news, false when the time is over.
  static asio::awaitable<bool> wait(Waiter& waiter, double most_s) {
    if (!waiter.signalled && !waiter.gone) {
      error_code ignored;
      waiter.timer.expires_after(seconds(most_s));
      co_await waiter.timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    const bool woken = waiter.signalled || waiter.gone;
    waiter.signalled = false;
    co_return woken;
  }

  asio::awaitable<bool> write_reply(const HttpReply& reply, bool keep_alive, bool is_head) {
    http::response<http::string_body> m(static_cast<http::status>(reply.status), 11);
    m.set(http::field::content_type, reply.content_type);
    m.set(http::field::server, "ridge");
    for (const auto& [name, value] : reply.headers) m.set(name, value);
    m.keep_alive(keep_alive);
    m.body() = is_head ? std::string() : reply.body;
    m.content_length(reply.body.size());
    context_.metrics.answered(reply.status);
    stream_.expires_after(seconds(context_.options.limits.write_stall_s));
    error_code ec;
    co_await http::async_write(stream_, m, asio::redirect_error(asio::use_awaitable, ec));
    co_return !ec;
  }

  asio::awaitable<bool> write_stream_head(bool is_http_1_1) {
    http::response<http::empty_body> m(http::status::ok, 11);
    m.set(http::field::content_type, "text/event-stream");
    m.set(http::field::cache_control, "no-cache");
    m.set(http::field::server, "ridge");
    m.set("X-Accel-Buffering", "no");  // nginx passes events on at once
    for (const auto& [name, value] : job_->headers()) m.set(name, value);
    m.keep_alive(keep_alive_ && is_http_1_1);
    if (is_http_1_1) m.chunked(true);
    context_.metrics.answered(200);
    stream_.expires_after(seconds(context_.options.limits.write_stall_s));
    error_code ec;
    http::response_serializer<http::empty_body> serializer(m);
    co_await http::async_write_header(stream_, serializer, asio::redirect_error(asio::use_awaitable, ec));
    co_return !ec;
  }

  asio::awaitable<bool> write_part(std::string_view bytes, bool is_http_1_1) {
    stream_.expires_after(seconds(context_.options.limits.write_stall_s));
    error_code ec;
    if (is_http_1_1) {
      co_await asio::async_write(stream_, http::make_chunk(asio::buffer(bytes)),
                                 asio::redirect_error(asio::use_awaitable, ec));
    } else {
      co_await asio::async_write(stream_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
    }
    co_return !ec;
  }

  asio::awaitable<bool> end_stream(bool is_http_1_1) {
    if (!is_http_1_1) co_return true;
    stream_.expires_after(seconds(context_.options.limits.write_stall_s));
    error_code ec;
    co_await asio::async_write(stream_, http::make_chunk_last(), asio::redirect_error(asio::use_awaitable, ec));
    co_return !ec;
  }

  // Closing while the client still sends makes its system throw away our answer; so its bytes are read for a moment.
  asio::awaitable<void> drop_rest() {
    char bytes[4096];
    error_code ec;
    stream_.expires_after(std::chrono::seconds(1));
    for (size_t n = 0; !ec && n < (size_t{1} << 20);)
      n += co_await stream_.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{64 << 10};
  ServerContext& context_;
  asio::thread_pool& workers_;
  std::unique_ptr<Job> job_;
  bool is_first_ = true, is_idle_ = true, keep_alive_ = true;
};

void Connections::start(tcp::socket socket, asio::thread_pool& workers) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (open_.size() >= context_.options.limits.n_connections) {
    static constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
    socket.write_some(asio::buffer(kBusy), ignored);
    return;
  }
  auto executor = socket.get_executor();
  auto connection = std::make_shared<Connection>(std::move(socket), context_, workers);
  open_.insert(connection);
  context_.metrics.connection_opened(1);
  // No exception leaves a connection: whatever Asio or the allocator throws ends it alone.
  asio::co_spawn(executor, Connection::serve(connection),
                 [this, connection](const std::exception_ptr&) { remove(connection); });
}

void Connections::remove(const std::shared_ptr<Connection>& connection) {
  open_.erase(connection);
  context_.metrics.connection_opened(-1);
  if (open_.empty() && on_empty) on_empty();
}

void Connections::close_idle() {
  for (const auto& c : open_) {
    if (c->is_idle()) c->close();
  }
}
void Connections::cancel_jobs() {
  for (const auto& c : open_) c->cancel_job();
}
void Connections::close_all() {
  for (const auto& c : open_) c->close();
}

}  // namespace ridge::server
