// Perplexity of a text, and how far one model's predictions lie from another's, with the chunks, the scored positions
// and the uncertainties of llama-perplexity (llama.cpp, tools/perplexity), so that figures can be compared. Plain
// arithmetic over logits; knows no model.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "quality/logits_source.h"

namespace ridge::quality {

// Tokens [start, start + n) are one sequence; rows first .. n - 2 are scored, each on the token behind it.
struct Chunk {
  size_t start = 0;
  int32_t n = 0, first = 0;
};
struct ChunkOptions {
  int32_t n_ctx = 512;
  int32_t n_chunks = -1;  // most chunks; below 0 = all
  int32_t stride = 0;     // 0: chunks side by side, their second halves scored; else chunks overlap and each scores its
                          // last `stride` tokens
};
// Errors: invalid_argument (a text of fewer than two chunks, a context below 8, a stride beyond the context).
Result<std::vector<Chunk>> plan_chunks(size_t n_tokens, const ChunkOptions& options);

// log(sum(exp(logits))), from which every log-probability follows.
double log_sum_exp(std::span<const float> logits);

struct Estimate {
  double value = 0, error = 0;  // error: one standard error
};

// Sums over scored tokens.
class NllSums {
 public:
  void add(double nll) { ++n_, sum_ += nll, squares_ += nll * nll; }
  int64_t n() const { return n_; }
  double mean() const { return n_ > 0 ? sum_ / static_cast<double>(n_) : 0; }
  double mean_variance() const;  // of the mean
  Estimate perplexity() const;

 private:
  int64_t n_ = 0;
  double sum_ = 0, squares_ = 0;
};

struct ScoreOptions {
  std::vector<Chunk> chunks;
  std::optional<int32_t> bos;  // takes the place of each chunk's first token
  // After each chunk; false stops (cancelled).
  std::function<bool(size_t chunk_idx)> on_chunk;
};

// Runs every chunk on all sources in step, and hands over each scored row: the token that followed, and the row of each
// source. Errors: those of the sources, cancelled.
using ScoreRow = std::function<void(int32_t token, std::span<const std::span<const float>> rows)>;
Result<void> score(std::span<const int32_t> tokens, const ScoreOptions& options, std::span<LogitsSource* const> sources,
                   const ScoreRow& row);

// How the predictions of a model (q) differ from those of a base, token by token.
class Divergence {
 public:
  void add(int32_t token, std::span<const float> q, std::span<const float> base);

  int64_t n() const { return static_cast<int64_t>(kl_.size()); }
  const NllSums& q() const { return q_; }
  const NllSums& base() const { return base_; }
  double correlation() const;     // of ln p(token)
  Estimate log_ratio() const;     // ln(PPL(q) / PPL(base)), paired
  Estimate ratio() const;         // PPL(q) / PPL(base)
  Estimate difference() const;    // PPL(q) - PPL(base)
  Estimate mean_kl() const;       // KL(base || q), nats a token
  Estimate mean_delta_p() const;  // p_q(token) - p_base(token)
  Estimate rms_delta_p() const;
  Estimate same_top() const;  // share of tokens where both find the same token likeliest
  // share in [0, 1]; 0 where nothing was added.
  double kl_percentile(double share) const;
  double delta_p_percentile(double share) const;

 private:
  double covariance_of_mean() const;
  NllSums q_, base_;
  double products_ = 0;
  int64_t n_same_top_ = 0;
  std::vector<float> kl_, delta_p_;
};

}  // namespace ridge::quality
