// The list of candidates: making it from dense logits, selecting its top, softmax; see candidates.h.
#include "sample/candidates.h"

#include <cmath>
#include <new>

namespace ridge::sample {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// 64 floats are two to sixteen vectors on every ISA: enough work between two branches, few wasted rescans.
constexpr size_t kBlock = 64;

bool any_above(const float* x, float limit) {
  int any = 0;
  for (size_t i = 0; i < kBlock; ++i) any |= x[i] > limit;
  return any != 0;
}

bool any_at_least(const float* x, float limit) {
  int any = 0;
  for (size_t i = 0; i < kBlock; ++i) any |= x[i] >= limit;
  return any != 0;
}

void keep_k(std::span<Candidate> v, size_t k) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k), v.end(), MoreLikely{});
}

}  // namespace

Result<std::shared_ptr<SamplerScratch>> SamplerScratch::create(int32_t n_vocab) {
  try {
    auto scratch = std::make_shared<SamplerScratch>();
    scratch->logits.resize(static_cast<size_t>(n_vocab));
    scratch->items.resize(static_cast<size_t>(n_vocab));
    scratch->probs.resize(select_top_room(static_cast<size_t>(n_vocab), 1024));
    return scratch;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "the sampler's working memory for {} tokens could not be allocated", n_vocab);
  }
}

size_t select_top(std::span<const float> logits, size_t k, std::span<Candidate> room) {
  k = std::min(k, logits.size());
  if (k == 0) return 0;
  size_t n = 0;
  float limit = kMinusInfinity;
  // Only a strictly higher logit can displace one of the k held: at equal logits the lower id was seen first and stays.
  // When room is full it shrinks to the best k, which raises the limit; each shrink is paid for by the entries that
  // filled it.
  const auto take = [&](size_t i) {
    if (!(logits[i] > limit)) return;
    if (n == room.size()) {
      keep_k(room.first(n), k);
      limit = std::min_element(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(k),
                               [](const Candidate& a, const Candidate& b) { return a.logit < b.logit; })
                  ->logit;
      n = k;
      if (!(logits[i] > limit)) return;
    }
    room[n++] = {static_cast<int32_t>(i), logits[i], 0};
  };
  size_t i = 0;
  for (; i + kBlock <= logits.size(); i += kBlock) {
    if (!any_above(&logits[i], limit)) continue;
    for (size_t j = i; j < i + kBlock; ++j) take(j);
  }
  for (; i < logits.size(); ++i) take(i);
  if (n > k) {
    keep_k(room.first(n), k);
    n = k;
  }
  std::sort(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(n), MoreLikely{});
  return n;
}

void Candidates::materialise() {
  if (dense_) materialise_above(-std::numeric_limits<float>::max());
}

void Candidates::materialise_above(float limit) {
  size_t n = 0;
  size_t i = 0;
  const auto take = [&](size_t j) {
    if (logits_[j] >= limit) storage_[n++] = {static_cast<int32_t>(j), logits_[j], 0};
  };
  for (; i + kBlock <= logits_.size(); i += kBlock) {
    if (!any_at_least(&logits_[i], limit)) continue;
    for (size_t j = i; j < i + kBlock; ++j) take(j);
  }
  for (; i < logits_.size(); ++i) take(i);
  begin_ = 0;
  size_ = n;
  dense_ = false;
  sorted_ = n < 2;
}

void Candidates::keep_top(size_t k) {
  if (dense_) {
    const size_t room = select_top_room(logits_.size(), k);
    if (room < logits_.size()) {
      size_ = select_top(logits_, k, storage_.first(room));
      begin_ = 0;
      dense_ = false;
      sorted_ = true;
      return;
    }
    materialise();
  }
  if (k < size_ && !sorted_) keep_k(items(), k);
  keep_first(k);
  sort();
}

void Candidates::sort() {
  materialise();
  if (!sorted_) std::sort(items().begin(), items().end(), MoreLikely{});
  sorted_ = true;
}

float max_of(std::span<const float> x) {
  // Lanes of their own, so that the compiler may use vectors without reordering a single running maximum.
  constexpr size_t kLanes = 16;
  float lane[kLanes];
  std::fill(std::begin(lane), std::end(lane), kMinusInfinity);
  size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
  }
  for (; i < x.size(); ++i) lane[0] = std::max(lane[0], x[i]);
  return *std::max_element(std::begin(lane), std::end(lane));
}

float Candidates::max_logit() {
  if (dense_) return max_of(logits_);
  if (sorted_ && size_ > 0) return items()[0].logit;
  float best = kMinusInfinity;
  for (const Candidate& c : items()) best = std::max(best, c.logit);
  return best;
}

void Candidates::softmax() {
  materialise();
  const float best = max_logit();
  double sum = 0;
  for (Candidate& c : items()) {
    c.p = std::exp(c.logit - best);
    sum += c.p;
  }
  for (Candidate& c : items()) c.p = static_cast<float>(c.p / sum);
}

}  // namespace ridge::sample
