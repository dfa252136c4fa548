// Counters, gauges and histograms of a server, as Prometheus text. Scraping changes nothing.
// Names: llama-server's where it has the figure (llamacpp:), and vLLM's where the meaning is the same (ridge:).
// Thread-safety: all methods, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "ridge/engine.h"

namespace ridge::server {

class Metrics {
 public:
  void received();
  void answered(int status);  // each request, once
  // An accepted choice came to its end. `reason`: stop, length, cancelled, error.
  void finished(const RequestAccount& account, std::string_view reason, double e2e_s);
  void connection_opened(int delta);

  // Seconds after which a refused client may find a place: what waits, at the rate at which requests have been ending.
  int retry_after_s(const EngineStats& stats) const;

  std::string text(const EngineStats& stats, const MemoryBook& memory) const;

 private:
  static constexpr size_t kBuckets = 16;
  struct Histogram {
    std::array<uint64_t, kBuckets + 1> counts{};
    double sum = 0;
    uint64_t n = 0;
    void add(double value, const std::array<double, kBuckets>& bounds);
  };
  enum Kind : size_t { ttft, tpot, gap, queue, prefill, decode, e2e, prompt_tokens, output_tokens, n_kinds };

  mutable std::mutex mutex_;
  std::array<Histogram, n_kinds> histograms_;
  std::map<int, uint64_t> answers_;
  std::map<std::string, uint64_t, std::less<>> reasons_;
  uint64_t n_received_ = 0;
  int64_t n_connections_ = 0;
  uint64_t n_prompt_tokens_ = 0, n_output_tokens_ = 0, n_tokens_max_ = 0;
  double prompt_s_ = 0, decode_s_ = 0;
  int64_t last_end_ns_ = 0;
  double mean_interval_s_ = 0;  // between ends, exponentially forgotten
};

}  // namespace ridge::server
