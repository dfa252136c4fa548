// The pushdown automaton that every constraint compiles to. Each rule is a deterministic automaton over bytes and calls
// of other rules; a stack holds where to go on when a rule ends. Immutable after compile(); any number of threads.
//
// Every state can reach an end (what cannot is removed), so a text that is matched so far can always be completed.
// Refuses: left recursion (naming the rules), a grammar that no finite text satisfies, and what passes the limits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/grammar/expr.h"

namespace ridge::grammar {

using StateId = uint32_t;

class Automaton {
 public:
  struct Edge {
    uint8_t lo = 0, hi = 0;
    StateId to = 0;
  };
  struct Call {
    StateId start = 0;     // of the rule
    StateId back = 0;      // where its caller goes on
    bool is_tail = false;  // the caller has nothing left to do there: no frame is needed
  };

  std::span<const Edge> edges(StateId s) const {
    return std::span(edges_).subspan(first_edge_[s], first_edge_[s + 1] - first_edge_[s]);
  }
  std::span<const Call> calls(StateId s) const {
    return std::span(calls_).subspan(first_call_[s], first_call_[s + 1] - first_call_[s]);
  }
  bool is_final(StateId s) const { return final_[s] != 0; }
  StateId start() const { return start_; }
  size_t n_states() const { return final_.size(); }
  size_t memory_bytes() const;
  // nullopt: no byte leads on.
  StateId next(StateId s, uint8_t byte) const;
  static constexpr StateId kNoState = UINT32_MAX;

 private:
  friend class Linker;
  std::vector<uint32_t> first_edge_, first_call_;
  std::vector<Edge> edges_;
  std::vector<Call> calls_;
  std::vector<uint8_t> final_;
  StateId start_ = 0;
};

// Errors: invalid_argument (left recursion, nothing matches), limit (rules, states, steps).
Result<std::shared_ptr<const Automaton>> compile(const Grammar& grammar);

}  // namespace ridge::grammar
