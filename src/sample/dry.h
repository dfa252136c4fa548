// DRY, "don't repeat yourself": a token that would continue a repeat of the end of the text is penalised by
// multiplier * base^(length of the repeat - allowed length). A repeat never reaches across a sequence breaker.
// Truth: the definition by its author (text-generation-webui pull request 5677). Breakers are found in the bytes of the
// accepted tokens, so a breaker that several tokens spell is found however it was tokenised.
// Time of apply(): linear in the window (the Z function of the reversed history).
#pragma once

#include <functional>
#include <string>

#include "sample/candidates.h"

namespace ridge::sample {

// Appends the bytes of a token to out.
using TokenText = std::function<void(int32_t token, std::string& out)>;

class Dry {
 public:
  struct Options {
    double multiplier = 0;
    double base = 1.75;
    size_t allowed_length = 2;
    size_t window = 0;  // tokens
  };
  Dry(const Options& options, std::span<const std::string> breakers, TokenText text, size_t n_vocab);

  void accept(int32_t token);
  void reset();
  void apply(Candidates& c);

 private:
  // One breaker as a matcher that reads byte by byte (Knuth-Morris-Pratt).
  struct Breaker {
    std::string text;
    std::vector<size_t> fallback;
    size_t matched = 0;
    bool feed(char byte);
  };
  void find_repeats();
  float penalised(float logit, uint32_t repeat) const;

  Options options_;
  double max_exponent_ = 0;
  std::vector<Breaker> breakers_;
  TokenText text_;
  std::string bytes_;
  std::vector<int32_t> ring_;
  size_t next_ = 0;
  size_t n_ = 0;
  size_t since_break_ = 0;         // tokens after the one that ended the last breaker
  std::vector<int32_t> reversed_;  // newest first
  std::vector<uint32_t> z_;
  std::vector<uint32_t> repeat_;  // by token: longest repeat that it would continue, plus 1; 0 = none
  std::vector<int32_t> touched_;
};

}  // namespace ridge::sample
