// Constraints of requests: compiles what a request asks for and keeps what was compiled, by content, within a limit.
// Any thread may ask; the matchers that come out belong to the engine thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "ridge/request.h"
#include "text/grammar/token_matcher.h"

namespace ridge {

class Constraints {
 public:
  explicit Constraints(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // A matcher at the beginning. Errors: invalid_argument (the constraint, with its place), limit.
  Result<std::unique_ptr<grammar::TokenMatcher>> matcher(const Constraint& constraint);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<grammar::MaskCache> masks;
    size_t bytes = 0;
  };
  void keep(Kept kept);

  const Tokenizer& tokenizer_;
  std::mutex mutex_;
  std::shared_ptr<const grammar::TokenTrie> trie_;  // made with the first constraint: about 0.1 s for 150k tokens
  std::list<Kept> kept_;                            // the last used first
};

}  // namespace ridge
