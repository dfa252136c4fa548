#include "server/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace ridge::server {
namespace {

constexpr size_t kN = 16;
// From half a millisecond to a minute: a first token's time spans them all.
constexpr std::array<double, kN> kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                             0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
constexpr std::array<double, kN> kTokens = {1,   2,    5,    10,   20,    50,    100,   200,
                                            500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};

struct Name {
  const char* name;
  const char* help;
  bool is_tokens;
};
constexpr Name kNames[] = {
    {"time_to_first_token_seconds", "from the accepted request to its first token", false},
    {"request_time_per_output_token_seconds", "mean time between a request's tokens", false},
    {"inter_token_latency_seconds", "each gap between two tokens", false},
    {"request_queue_time_seconds", "waiting for admission", false},
    {"request_prefill_time_seconds", "forward passes over the prompt", false},
    {"request_decode_time_seconds", "forward passes of decoding", false},
    {"e2e_request_latency_seconds", "from the first byte of a request to its end", false},
    {"request_prompt_tokens", "prompt tokens of a request", true},
    {"request_generation_tokens", "output tokens of a request", true},
};

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <class Value>
void one(std::string& out, std::string_view name, std::string_view type, std::string_view help, Value value) {
  head(out, name, type, help);
  out += fmt::format("{} {}\n", name, value);
}

double queue_s(const RequestAccount& a) {
  for (const StageTime& s : a.time.stages) {
    if (s.name == "queue") return s.ms * 1e-3;
  }
  return 0;
}

}  // namespace

void Metrics::Histogram::add(double value, const std::array<double, kBuckets>& bounds) {
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), value);
  ++counts[static_cast<size_t>(at - bounds.begin())];
  sum += value;
  ++n;
}

void Metrics::received() {
  const std::lock_guard lock(mutex_);
  ++n_received_;
}

void Metrics::answered(int status) {
  const std::lock_guard lock(mutex_);
  ++answers_[status];
}

void Metrics::connection_opened(int delta) {
  const std::lock_guard lock(mutex_);
  n_connections_ += delta;
}

void Metrics::finished(const RequestAccount& a, std::string_view reason, double e2e_s) {
  const std::lock_guard lock(mutex_);
  const auto at = reasons_.find(reason);
  if (at != reasons_.end()) {
    ++at->second;
  } else {
    reasons_.emplace(reason, 1);
  }
  const int64_t now = now_ns();
  if (last_end_ns_ > 0) {
    const double interval = static_cast<double>(now - last_end_ns_) * 1e-9;
    mean_interval_s_ = mean_interval_s_ == 0 ? interval : 0.9 * mean_interval_s_ + 0.1 * interval;
  }
  last_end_ns_ = now;
  n_prompt_tokens_ += a.prefill.n_tokens;
  n_output_tokens_ += a.n_output;
  n_tokens_max_ = std::max(n_tokens_max_, a.n_prompt + a.n_output);
  prompt_s_ += a.prefill.forward_ms * 1e-3;
  decode_s_ += a.decode.forward_ms * 1e-3;
  if (a.n_output > 0) histograms_[ttft].add(a.ttft_ms * 1e-3, kSeconds);
  for (size_t i = 1; i < a.token_ms.size(); ++i)
    histograms_[gap].add((a.token_ms[i] - a.token_ms[i - 1]) * 1e-3, kSeconds);
  if (a.token_ms.size() > 1) {
    const double span = a.token_ms.back() - a.token_ms.front();
    histograms_[tpot].add(span / static_cast<double>(a.token_ms.size() - 1) * 1e-3, kSeconds);
  }
  histograms_[queue].add(queue_s(a), kSeconds);
  histograms_[prefill].add(a.prefill.forward_ms * 1e-3, kSeconds);
  histograms_[decode].add(a.decode.forward_ms * 1e-3, kSeconds);
  histograms_[e2e].add(e2e_s, kSeconds);
  histograms_[prompt_tokens].add(static_cast<double>(a.n_prompt), kTokens);
  histograms_[output_tokens].add(static_cast<double>(a.n_output), kTokens);
}

int Metrics::retry_after_s(const EngineStats& stats) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::clamp(std::ceil(mean_interval_s_ * (stats.n_waiting + 1)), 1.0, 60.0));
}

std::string Metrics::text(const EngineStats& s, const MemoryBook& memory) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  const auto total = [&](const char* name, const char* help, auto value) { one(out, name, "counter", help, value); };
  const auto gauge = [&](const char* name, const char* help, auto value) { one(out, name, "gauge", help, value); };
  total("llamacpp:prompt_tokens_total", "prompt tokens computed", n_prompt_tokens_);
  total("llamacpp:prompt_seconds_total", "time of forward passes over prompts", prompt_s_);
  total("llamacpp:tokens_predicted_total", "tokens generated", n_output_tokens_);
  total("llamacpp:tokens_predicted_seconds_total", "time of forward passes of decoding", decode_s_);
  total("llamacpp:n_decode_total", "forward passes", s.n_steps);
  total("llamacpp:n_tokens_max", "most tokens of one request", n_tokens_max_);
  const auto rate = [](uint64_t n, double seconds) { return seconds > 0 ? static_cast<double>(n) / seconds : 0.0; };
  gauge("llamacpp:prompt_tokens_seconds", "mean prompt speed since the start", rate(n_prompt_tokens_, prompt_s_));
  gauge("llamacpp:predicted_tokens_seconds", "mean decode speed since the start", rate(n_output_tokens_, decode_s_));
  gauge("llamacpp:requests_processing", "requests running", s.n_running);
  gauge("llamacpp:requests_deferred", "requests waiting", s.n_waiting);
  gauge("llamacpp:n_busy_slots_per_decode", "mean sequences a forward pass",
        rate(s.n_step_sequences, static_cast<double>(s.n_steps)));
  gauge("ridge:num_requests_running", "requests running", s.n_running);
  gauge("ridge:num_requests_waiting", "requests waiting", s.n_waiting);
  gauge("ridge:connections", "open connections", n_connections_);
  head(out, "ridge:kv_blocks", "gauge", "blocks of KV memory by state");
  out += fmt::format("ridge:kv_blocks{{state=\"free\"}} {}\nridge:kv_blocks{{state=\"held\"}} {}\n", s.n_kv_blocks_free,
                     s.n_kv_blocks - s.n_kv_blocks_free);
  head(out, "ridge:memory_bytes", "gauge", "memory by owner");
  std::map<std::string, uint64_t> owners;
  for (const MemoryLine& l : memory.lines) owners[l.owner] += l.current_bytes;
  for (const auto& [owner, bytes] : owners) out += fmt::format("ridge:memory_bytes{{owner=\"{}\"}} {}\n", owner, bytes);
  total("ridge:requests_received_total", "requests whose head was read", n_received_);
  head(out, "ridge:answers_total", "counter", "answers by HTTP status");
  for (const auto& [status, n] : answers_) out += fmt::format("ridge:answers_total{{status=\"{}\"}} {}\n", status, n);
  head(out, "ridge:request_success_total", "counter", "requests that came to their end, by reason");
  for (const auto& [reason, n] : reasons_)
    out += fmt::format("ridge:request_success_total{{finished_reason=\"{}\"}} {}\n", reason, n);
  for (size_t k = 0; k < n_kinds; ++k) {
    const std::string name = fmt::format("ridge:{}", kNames[k].name);
    head(out, name, "histogram", kNames[k].help);
    const auto& bounds = kNames[k].is_tokens ? kTokens : kSeconds;
    uint64_t sum = 0;
    for (size_t b = 0; b < kBuckets; ++b) {
      sum += histograms_[k].counts[b];
      out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, bounds[b], sum);
    }
    out += fmt::format("{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", name, histograms_[k].n, name,
                       histograms_[k].sum, name, histograms_[k].n);
  }
  return out;
}

}  // namespace ridge::server
