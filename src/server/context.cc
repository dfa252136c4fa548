#include "server/context.h"

#include <fmt/core.h>

#include <chrono>
#include <random>

namespace ridge::server {
namespace {

std::string shown_name(const Engine& engine, const std::string& alias) {
  if (!alias.empty()) return alias;
  const std::string& path = engine.model().path;
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.ends_with(".gguf")) name.resize(name.size() - 5);
  return name;
}

int64_t unix_time_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// splitmix64: a counter becomes an id that nobody can guess the neighbours of at a glance.
uint64_t mixed(uint64_t x) {
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27, x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

void AccountRing::keep(api::ClosedAccount account) {
  const std::lock_guard lock(mutex_);
  accounts_.push_back(std::move(account));
  if (accounts_.size() > capacity_) accounts_.pop_front();
}

std::optional<std::string> AccountRing::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (const api::ClosedAccount& a : accounts_) {
    if (a.id == id) return api::render_account(a);
  }
  return std::nullopt;
}

ServerContext::ServerContext(Engine& e, ServerOptions o)
    : engine(e),
      options(std::move(o)),
      keys(options.api_keys),
      model_name(shown_name(e, options.alias)),
      started_s(unix_time_s()),
      accounts(options.limits.n_accounts),
      id_state_((uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {}

std::string ServerContext::next_id() {
  const uint64_t n = id_state_.fetch_add(0x9e3779b97f4a7c15u);
  return fmt::format("{:016x}{:016x}", mixed(n), mixed(n ^ 0x5851f42d4c957f2du));
}

std::shared_ptr<LiveRequest> ServerContext::enter(uint64_t n_prompt, const api::Generation& generation) {
  auto live = std::make_shared<LiveRequest>();
  live->n_prompt = n_prompt;
  live->generation = generation;
  const std::lock_guard lock(mutex_);
  live->id_task = n_tasks_++;
  live_.emplace(live->id_task, live);
  return live;
}

void ServerContext::leave(const LiveRequest& request) {
  const std::lock_guard lock(mutex_);
  live_.erase(request.id_task);
}

std::vector<api::SlotView> ServerContext::live(size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<api::SlotView> views;
  for (const auto& [id, r] : live_) {
    if (views.size() == most) break;
    views.push_back({.id_task = id, .n_prompt = r->n_prompt, .n_decoded = r->n_decoded, .generation = r->generation});
  }
  return views;
}

}  // namespace ridge::server
