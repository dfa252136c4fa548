#include "quality/perplexity.h"

#include <algorithm>
#include <cmath>

namespace ridge::quality {
namespace {

constexpr int32_t kMinContext = 8;

Estimate mean_of(const std::vector<float>& values) {
  const auto n = static_cast<double>(values.size());
  if (n == 0) return {};
  double sum = 0, squares = 0;
  for (const double v : values) sum += v, squares += v * v;
  const double mean = sum / n, variance = squares / n - mean * mean;
  return {mean, n > 1 && variance > 0 ? std::sqrt(variance / (n - 1)) : 0};
}

double percentile(std::vector<float> values, double share) {
  if (values.empty()) return 0;
  // Between the two values that the place lies between.
  const double place = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(place), high = std::min(low + 1, values.size() - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(low), values.end());
  const double a = values[low];
  const double b = high > low ? *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(high), values.end()) : a;
  return a + (b - a) * (place - static_cast<double>(low));
}

}  // namespace

Result<std::vector<Chunk>> plan_chunks(size_t n_tokens, const ChunkOptions& o) {
  if (o.n_ctx < kMinContext)
    return fail(ErrorCode::invalid_argument, "a context of {}, expected at least {}", o.n_ctx, kMinContext);
  if (o.stride < 0 || o.stride >= o.n_ctx)
    return fail(ErrorCode::invalid_argument, "a stride of {}, expected 1 to {}", o.stride, o.n_ctx - 1);
  const auto n_ctx = static_cast<size_t>(o.n_ctx);
  if (n_tokens < 2 * n_ctx) {
    return fail(ErrorCode::invalid_argument,
                "the text has {} tokens, expected at least {}, two contexts of {}; give more text or a smaller -c",
                n_tokens, 2 * n_ctx, n_ctx);
  }
  const size_t step = o.stride > 0 ? static_cast<size_t>(o.stride) : n_ctx;
  size_t n = (n_tokens - n_ctx) / step + 1;
  if (o.n_chunks >= 0) n = std::min(n, static_cast<size_t>(o.n_chunks));
  if (n == 0) return fail(ErrorCode::invalid_argument, "no chunks, expected at least 1");
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < n; ++i)
    chunks.push_back({.start = i * step, .n = o.n_ctx, .first = o.stride > 0 ? o.n_ctx - o.stride - 1 : o.n_ctx / 2});
  return chunks;
}

double log_sum_exp(std::span<const float> logits) {
  const float top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float x : logits) sum += std::exp(x - top);
  return top + std::log(sum);
}

double NllSums::mean_variance() const {
  if (n_ < 2) return 0;
  const double variance = squares_ / static_cast<double>(n_) - mean() * mean();
  return std::max(variance, 0.0) / static_cast<double>(n_ - 1);
}

Estimate NllSums::perplexity() const {
  const double ppl = std::exp(mean());
  return {ppl, ppl * std::sqrt(mean_variance())};
}

Result<void> score(std::span<const int32_t> tokens, const ScoreOptions& options, std::span<LogitsSource* const> sources,
                   const ScoreRow& row) {
  std::vector<int32_t> chunk;
  std::vector<MatrixView<const float>> logits(sources.size());
  std::vector<std::span<const float>> rows(sources.size());
  const auto most = [&](bool want) {
    int32_t n = sources[0]->max_rows(want);
    for (const LogitsSource* s : sources) n = std::min(n, s->max_rows(want));
    return n;
  };
  for (size_t c = 0; c < options.chunks.size(); ++c) {
    const Chunk& at = options.chunks[c];
    const auto own = tokens.subspan(at.start, static_cast<size_t>(at.n));
    chunk.assign(own.begin(), own.end());
    if (options.bos) chunk[0] = *options.bos;
    for (LogitsSource* s : sources) RIDGE_CHECK_OK(s->start(chunk));
    const int32_t end = at.n - 1;  // nothing follows the last token
    for (int32_t pos = 0; pos < end;) {
      const bool want = pos >= at.first;
      const int32_t n = std::min(most(want), (want ? end : at.first) - pos);
      for (size_t s = 0; s < sources.size(); ++s) {
        RIDGE_TRY(logits[s], sources[s]->advance(n, want));
      }
      for (int32_t r = 0; want && r < n; ++r) {
        for (size_t s = 0; s < sources.size(); ++s) rows[s] = {logits[s].row(r), static_cast<size_t>(logits[s].cols)};
        row(chunk[static_cast<size_t>(pos + r + 1)], rows);
      }
      pos += n;
    }
    if (options.on_chunk && !options.on_chunk(c)) return fail(ErrorCode::cancelled, "stopped after {} chunks", c + 1);
  }
  return {};
}

void Divergence::add(int32_t token, std::span<const float> q, std::span<const float> base) {
  const double zq = log_sum_exp(q), zb = log_sum_exp(base);
  double kl = 0;
  size_t top_q = 0, top_b = 0;
  for (size_t i = 0; i < base.size(); ++i) {
    const double lb = base[i] - zb;
    if (lb > -40) kl += std::exp(lb) * (lb - (q[i] - zq));  // what is left out is below 1e-17 a token
    if (q[i] > q[top_q]) top_q = i;
    if (base[i] > base[top_b]) top_b = i;
  }
  const auto t = static_cast<size_t>(token);
  const double lq = q[t] - zq, lb = base[t] - zb;
  q_.add(-lq), base_.add(-lb);
  products_ += lq * lb;
  n_same_top_ += top_q == top_b ? 1 : 0;
  kl_.push_back(static_cast<float>(std::max(kl, 0.0)));
  delta_p_.push_back(static_cast<float>(std::exp(lq) - std::exp(lb)));
}

double Divergence::covariance_of_mean() const {
  if (n() < 2) return 0;
  return (products_ / static_cast<double>(n()) - q_.mean() * base_.mean()) / static_cast<double>(n() - 1);
}

double Divergence::correlation() const {
  const double spread = std::sqrt(q_.mean_variance() * base_.mean_variance());
  return spread > 0 ? covariance_of_mean() / spread : 1;
}

Estimate Divergence::log_ratio() const {
  const double variance = q_.mean_variance() + base_.mean_variance() - 2 * covariance_of_mean();
  return {q_.mean() - base_.mean(), std::sqrt(std::max(variance, 0.0))};
}

Estimate Divergence::ratio() const {
  const Estimate log = log_ratio();
  return {std::exp(log.value), std::exp(log.value) * log.error};
}

Estimate Divergence::difference() const {
  const Estimate a = q_.perplexity(), b = base_.perplexity();
  const double variance = a.error * a.error + b.error * b.error - 2 * a.value * b.value * covariance_of_mean();
  return {a.value - b.value, std::sqrt(std::max(variance, 0.0))};
}

Estimate Divergence::mean_kl() const {
  return mean_of(kl_);
}

Estimate Divergence::mean_delta_p() const {
  return mean_of(delta_p_);
}

Estimate Divergence::rms_delta_p() const {
  std::vector<float> squares;
  for (const float d : delta_p_) squares.push_back(d * d);
  const Estimate mean = mean_of(squares);
  const double rms = std::sqrt(mean.value);
  return {rms, rms > 0 ? 0.5 * mean.error / rms : 0};
}

Estimate Divergence::same_top() const {
  if (n() == 0) return {};
  const double share = static_cast<double>(n_same_top_) / static_cast<double>(n());
  return {share, n() > 1 ? std::sqrt(share * (1 - share) / static_cast<double>(n() - 1)) : 0};
}

double Divergence::kl_percentile(double share) const {
  return percentile(kl_, share);
}

double Divergence::delta_p_percentile(double share) const {
  return percentile(delta_p_, share);
}

}  // namespace ridge::quality
