// The candidates of one step on their way through the chain. They begin dense (one logit for each id of the vocabulary)
// and become a list at the first sampler that truncates, so that a vocabulary of 150,000 is never sorted when 40
// remain. Refuses: nothing; the chain has checked the logits (no NaN, no +infinity). -infinity means "not a candidate":
// such tokens vanish when the list is made. Thread-safety: none; the scratch belongs to one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace ridge::sample {

struct Candidate {
  int32_t id;
  float logit;
  float p;  // valid after softmax()
};

// Higher logit first; among equals the lower id, so that "the most likely token" is one token.
struct MoreLikely {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  }
};

// Working memory of sample(), allocated once and shared by all chains of a thread (18 bytes a token of the vocabulary).
struct SamplerScratch {
  std::vector<float> logits;
  std::vector<Candidate> items;
  std::vector<Candidate> probs;  // for the reported probabilities
  static Result<std::shared_ptr<SamplerScratch>> create(int32_t n_vocab);
};

class Candidates {
 public:
  Candidates(std::span<float> logits, std::span<Candidate> storage) : logits_(logits), storage_(storage) {}

  bool dense() const { return dense_; }
  std::span<float> logits() { return logits_; }  // while dense: index = id
  std::span<Candidate> items() { return storage_.subspan(begin_, size_); }
  size_t size() const { return dense_ ? logits_.size() : size_; }
  bool sorted() const { return sorted_; }  // items() follow MoreLikely
  void set_sorted(bool sorted) { sorted_ = sorted; }

  // Turns the dense form into a list of all with a finite logit.
  void materialise();
  // Turns the dense form into the list of those with logit >= limit, in order of id.
  void materialise_above(float limit);
  // The k most likely, sorted.
  void keep_top(size_t k);
  // List form: the first n, and all but the first n.
  void keep_first(size_t n) { size_ = std::min(n, size_); }
  void drop_first(size_t n) {
    begin_ += std::min(n, size_);
    size_ -= std::min(n, size_);
  }
  void sort();
  float max_logit();
  // Fills p of all; the list form is made if needed.
  void softmax();

 private:
  std::span<float> logits_;
  std::span<Candidate> storage_;
  size_t begin_ = 0;
  size_t size_ = 0;
  bool dense_ = true;
  bool sorted_ = false;
};

// The highest of all, without NaN; -infinity for none.
float max_of(std::span<const float> logits);

// How many candidates select_top needs room for.
inline size_t select_top_room(size_t n_logits, size_t k) {
  return std::min(n_logits, std::max<size_t>(4 * k, 1024) + 64);
}

// Writes the k most likely of all finite logits to the front of room, sorted; returns how many there are. Linear time.
size_t select_top(std::span<const float> logits, size_t k, std::span<Candidate> room);

// Visits v in the order of less, sorting only as far as needed (prefixes that grow fourfold); stops after the element
// for which stop(element, index) is true. Returns how many were visited; they stand in order at the front of v.
template <class Less, class Stop>
size_t take_in_order(std::span<Candidate> v, bool already_sorted, Less less, Stop stop) {
  size_t done = 0;
  for (size_t chunk = 128; done < v.size(); chunk *= 4) {
    const size_t end = std::min(v.size(), done + chunk);
    if (!already_sorted) {
      const auto at = [&](size_t i) { return v.begin() + static_cast<std::ptrdiff_t>(i); };
      if (end < v.size()) std::nth_element(at(done), at(end), v.end(), less);
      std::sort(at(done), at(end), less);
    }
    for (; done < end; ++done) {
      if (stop(v[done], done)) return done + 1;
    }
  }
  return v.size();
}

}  // namespace ridge::sample
