// A request and an answer without sockets: what handlers see. Plain values; a Job belongs to the I/O thread once it has
// been made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ridge::server {

struct HttpRequest {
  std::string method, path, query;  // the target without and behind '?'
  std::string authorization, x_api_key;
  std::string body;
  int64_t received_ns = 0;  // when its first byte was there
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string content_type = "application/json; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// An answer that comes over time. Exactly one part is `done`.
class Job {
 public:
  struct Part {
    std::string bytes;
    bool done = false;
  };

  virtual ~Job() = default;
  virtual bool streams() const = 0;  // the head goes out at once and each part as it comes
  // What is there now; never waits. Not called again after `done`.
  virtual Part poll() = 0;
  virtual int status() const = 0;  // when done, and not streaming
  // Called from another thread when poll() may have something; {} ends it.
  virtual void on_event(std::function<void()> wake) = 0;
  // The rest is not wanted: poll() soon gives `done`. The server's reason goes into the answer's error.
  virtual void cancel() = 0;
  virtual std::vector<std::pair<std::string, std::string>> headers() const = 0;
};

using Answer = std::variant<HttpReply, std::unique_ptr<Job>>;

}  // namespace ridge::server
