// The chain once more, written plainly: whole vocabulary, full sorts, double, quadratic searches, nothing kept between
// calls. Only tests include it; it shares no code with the fast samplers.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sample/params.h"

namespace ridge::sample::twin {

struct Item {
  int id;
  double logit;
  double p = 0;
};
using List = std::vector<Item>;

inline void softmax(List& v) {
  double best = -INFINITY, sum = 0;
  for (const Item& x : v) best = std::max(best, x.logit);
  for (Item& x : v) sum += x.p = std::exp(x.logit - best);
  for (Item& x : v) x.p /= sum;
}

inline void sort(List& v) {
  std::stable_sort(v.begin(), v.end(),
                   [](const Item& a, const Item& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; });
}

inline void cut(List& v, size_t n) {
  v.erase(v.begin() + static_cast<long>(std::min(n, v.size())), v.end());
}

inline void top_k(List& v, int k) {
  if (k <= 0) return;
  sort(v);
  cut(v, static_cast<size_t>(k));
}

inline void top_p(List& v, double p, size_t min_keep) {
  if (p >= 1) return;
  sort(v);
  softmax(v);
  double sum = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    sum += v[i].p;
    if (sum >= p && i + 1 >= min_keep) return cut(v, i + 1);
  }
}

inline void min_p(List& v, double p, size_t min_keep) {
  if (p <= 0) return;
  sort(v);
  softmax(v);
  size_t n = 0;
  while (n < v.size() && (v[n].p >= p * v[0].p || n < min_keep)) ++n;
  cut(v, n);
}

inline void top_n_sigma(List& v, double n) {
  if (n <= 0 || v.size() < 2) return;
  double mean = 0, var = 0, best = -INFINITY;
  for (const Item& x : v) mean += x.logit / static_cast<double>(v.size());
  for (const Item& x : v) var += (x.logit - mean) * (x.logit - mean) / static_cast<double>(v.size());
  for (const Item& x : v) best = std::max(best, x.logit);
  std::erase_if(v, [&](const Item& x) { return x.logit < best - n * std::sqrt(var); });
}

inline void typical(List& v, double p, size_t min_keep) {
  if (p >= 1) return;
  sort(v);
  softmax(v);
  double entropy = 0;
  for (const Item& x : v) entropy += x.p > 0 ? -x.p * std::log(x.p) : 0;
  std::stable_sort(v.begin(), v.end(), [&](const Item& a, const Item& b) {
    return std::abs(-std::log(a.p) - entropy) < std::abs(-std::log(b.p) - entropy);
  });
  double sum = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    sum += v[i].p;
    if (sum > p && i + 1 >= min_keep) return cut(v, i + 1);
  }
}

inline void xtc(List& v, double probability, double threshold, size_t min_keep, double chance) {
  if (chance >= probability || threshold > 0.5) return;
  sort(v);
  softmax(v);
  size_t n = 0;
  for (const Item& x : v) n += x.p >= threshold;
  if (n >= 2 && v.size() - (n - 1) >= min_keep) v.erase(v.begin(), v.begin() + static_cast<long>(n - 1));
}

inline void temperature(List& v, double t, double range, double exponent) {
  if (range > 0) {
    if (v.size() < 2) return;
    softmax(v);
    double entropy = 0;
    for (const Item& x : v) entropy += x.p > 0 ? -x.p * std::log(x.p) : 0;
    const double low = std::max(0.0, t - range);
    t = low + (t + range - low) * std::pow(entropy / std::log(static_cast<double>(v.size())), exponent);
  }
  if (t <= 0) return top_k(v, 1);
  for (Item& x : v) x.logit /= t;
}

inline std::vector<int> last(const std::vector<int>& history, int n) {
  if (n < 0 || static_cast<size_t>(n) >= history.size()) return history;
  return {history.end() - n, history.end()};
}

inline void penalties(List& v, const std::vector<int>& history, const SamplingParams& p) {
  std::map<int, int> counts;
  for (const int t : last(history, p.repeat_last_n)) ++counts[t];
  for (Item& x : v) {
    if (counts.count(x.id) == 0) continue;
    x.logit = x.logit <= 0 ? x.logit * p.repeat_penalty : x.logit / p.repeat_penalty;
    x.logit -= counts[x.id] * p.frequency_penalty + p.presence_penalty;
  }
}

// text(id): the bytes of a token. Every pair of places is compared; a repeat stops before the last breaker.
template <class Text>
void dry(List& v, const std::vector<int>& history, const SamplingParams& p, Text text) {
  if (p.dry_multiplier == 0 || p.dry_penalty_last_n == 0) return;
  size_t reach = history.size();  // tokens after the one in which the last breaker ends
  for (const std::string& b : p.dry_sequence_breakers) {
    std::string bytes;
    std::vector<size_t> owner;
    for (size_t i = 0; i < history.size(); ++i) {
      for (const char c : text(history[i])) {
        bytes += c;
        owner.push_back(i);
      }
    }
    if (const size_t at = bytes.rfind(b); at != std::string::npos)
      reach = std::min(reach, history.size() - 1 - owner[at + b.size() - 1]);
  }
  const std::vector<int> h = last(history, p.dry_penalty_last_n);
  const size_t allowed = static_cast<size_t>(p.dry_allowed_length);
  if (h.size() <= allowed || reach < allowed) return;
  std::map<int, size_t> longest;
  for (size_t end = 1; end < h.size(); ++end) {  // the text before h[end], compared with the end of everything
    size_t n = 0;
    while (n < end && n < reach && h[end - 1 - n] == h[h.size() - 1 - n]) ++n;
    if (n >= allowed) longest[h[end]] = std::max(longest.count(h[end]) ? longest[h[end]] : 0, n);
  }
  for (Item& x : v) {
    if (longest.count(x.id))
      x.logit -= p.dry_multiplier * std::pow(p.dry_base, static_cast<double>(longest[x.id] - allowed));
  }
}

template <class Text>
List chain(const std::vector<float>& logits, const SamplingParams& p, const std::vector<int>& history, Text text,
           double chance) {
  List v;
  for (size_t i = 0; i < logits.size(); ++i) v.push_back({static_cast<int>(i), logits[i]});
  for (const LogitBias& b : p.logit_bias) v[static_cast<size_t>(b.token)].logit += b.bias;
  std::erase_if(v, [](const Item& x) { return x.logit == -INFINITY; });
  const auto keep = static_cast<size_t>(p.min_keep);
  for (const SamplerKind kind : p.samplers) {
    switch (kind) {
      case SamplerKind::penalties:
        penalties(v, history, p);
        break;
      case SamplerKind::dry:
        dry(v, history, p, text);
        break;
      case SamplerKind::top_n_sigma:
        top_n_sigma(v, p.top_n_sigma);
        break;
      case SamplerKind::top_k:
        top_k(v, p.top_k);
        break;
      case SamplerKind::typical:
        typical(v, p.typical_p, keep);
        break;
      case SamplerKind::top_p:
        top_p(v, p.top_p, keep);
        break;
      case SamplerKind::min_p:
        min_p(v, p.min_p, keep);
        break;
      case SamplerKind::xtc:
        xtc(v, p.xtc_probability, p.xtc_threshold, keep, chance);
        break;
      case SamplerKind::temperature:
        temperature(v, p.temperature, p.dynatemp_range, p.dynatemp_exponent);
        break;
    }
  }
  sort(v);
  softmax(v);
  return v;
}

}  // namespace ridge::sample::twin
