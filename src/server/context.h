// What all handlers of one server share. Thread-safety: each member says so for itself; this holds no state of its own
// beside the counters.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/native/info.h"
#include "server/auth.h"
#include "server/metrics.h"
#include "server/options.h"

namespace ridge::server {

// The last closed accounts, oldest forgotten first. Any thread.
class AccountRing {
 public:
  explicit AccountRing(size_t capacity) : capacity_(capacity) {}
  void keep(api::ClosedAccount account);
  std::optional<std::string> find(std::string_view id) const;  // as JSON

 private:
  mutable std::mutex mutex_;
  std::deque<api::ClosedAccount> accounts_;
  size_t capacity_;
};

// A request in flight, for /slots.
struct LiveRequest {
  uint64_t id_task = 0, n_prompt = 0;
  std::atomic<uint64_t> n_decoded{0};
  api::Generation generation;
};

struct ServerContext {
  ServerContext(Engine& e, ServerOptions o);

  Engine& engine;
  const ServerOptions options;
  const KeyRing keys;
  const std::string model_name;
  const int64_t started_s;  // Unix time
  Metrics metrics;
  AccountRing accounts;
  std::atomic<bool> draining{false};

  std::string next_id();  // any thread
  std::shared_ptr<LiveRequest> enter(uint64_t n_prompt, const api::Generation& generation);
  void leave(const LiveRequest& request);
  std::vector<api::SlotView> live(size_t most) const;  // oldest first

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<LiveRequest>> live_;
  uint64_t n_tasks_ = 0;
  std::atomic<uint64_t> id_state_;
};

}  // namespace ridge::server
