// The compiler's first two steps, for one rule: its expression as edges between states with empty moves (Thompson
// 1968), then the same made deterministic over bytes and calls (Rabin and Scott 1959), both under one budget.
#pragma once

#include <vector>

#include "base/result.h"
#include "text/grammar/expr.h"

namespace ridge::grammar {

// Of a whole grammar; each step takes from it.
struct Budget {
  size_t n_parts = 0, n_states = 0, n_steps = 0;
  bool is_spent() const;
  Error error() const;  // which limit was passed
};

// One rule's automaton; states are numbered from 0, the start.
struct RuleDfa {
  struct Edge {
    uint8_t lo = 0, hi = 0;
    uint32_t to = 0;
  };
  struct Call {
    RuleId rule = 0;
    uint32_t back = 0;
  };
  struct State {
    std::vector<Edge> edges;
    std::vector<Call> calls;
    bool is_final = false;
  };
  std::vector<State> states;
};

Result<RuleDfa> build_rule(const Grammar& grammar, RuleId rule, Budget& budget);

}  // namespace ridge::grammar
