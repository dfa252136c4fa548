// A constraint at work: which tokens may come next, and the step over the one that came.
//
// For each state of the automaton most tokens are decided without a look at the stack: found once by a walk over the
// vocabulary, kept in the MaskCache. The rest leave the rule inside the token; only they are followed into what lies
// below on the stack. The mask of a whole situation is kept too, so that a matcher that stands where it stood before
// (inside a string, say) pays nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "text/grammar/machine.h"
#include "text/grammar/token_trie.h"

namespace ridge::grammar {

// What one state allows as long as nothing is known of the stack below it.
struct StateMask {
  std::vector<uint32_t> bits;  // by token; empty where `few` holds them all
  std::vector<int32_t> few;
  std::vector<uint32_t> leaving;  // nodes of the trie, with children, at which the rule of the state may have ended
};

// Shared by the matchers of one grammar and vocabulary that run on one thread.
class MaskCache {
 public:
  MaskCache(std::shared_ptr<const Automaton> automaton, std::shared_ptr<const TokenTrie> trie);

  // Valid until the next call. Errors: limit (too ambiguous).
  Result<const StateMask*> of(StateId state);

  const Automaton& automaton() const { return *automaton_; }
  const TokenTrie& trie() const { return *trie_; }
  size_t memory_bytes() const { return bytes_ + machine_.memory_bytes(); }

 private:
  std::shared_ptr<const Automaton> automaton_;
  std::shared_ptr<const TokenTrie> trie_;
  Machine machine_;
  std::unordered_map<StateId, StateMask> masks_;
  std::vector<ConfigId> path_;
  std::vector<int32_t> found_;
  size_t bytes_ = 0;
};

// One answer's progress. One thread.
class TokenMatcher {
 public:
  explicit TokenMatcher(std::shared_ptr<MaskCache> cache);

  // Bit i: token i may come; end tokens where the text may end here. Valid until the next call. Errors: limit (too
  // ambiguous), invalid_argument (no token of the vocabulary goes on as the grammar demands).
  Result<std::span<const uint32_t>> mask();
  // The only token that may come, if it is only one. Errors as mask().
  Result<std::optional<int32_t>> forced();
  // False: the token is not allowed here, and nothing has changed. An end token is allowed where the text may end.
  bool accept(int32_t token);
  // The longest allowed prefix is taken; its length.
  size_t accept_text(std::string_view bytes);

  bool may_end() const { return machine_.ends(config_); }
  bool must_end() const { return machine_.tops(config_).empty(); }  // complete, and nothing can follow
  bool has_ended() const { return ended_; }                         // an end token was accepted
  size_t memory_bytes() const;

 private:
  struct Kept {
    std::vector<uint32_t> bits;
    uint32_t n_allowed = 0;
  };
  Result<const Kept*> current();
  Result<void> add_top(NodeId top, std::vector<uint32_t>& bits);
  void add_subtree(uint32_t node, ConfigId config, std::vector<uint32_t>& bits);

  std::shared_ptr<MaskCache> cache_;
  Machine machine_;
  ConfigId config_ = Machine::kDead;
  bool ended_ = false;
  std::unordered_map<ConfigId, Kept> masks_;
  std::vector<ConfigId> path_;
};

}  // namespace ridge::grammar
