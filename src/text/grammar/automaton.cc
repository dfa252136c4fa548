// Links the rules' automata into one: drops what can never end, finds which rules may be empty, refuses left recursion.
#include "text/grammar/automaton.h"

#include <algorithm>

#include "text/grammar/limits.h"
#include "text/grammar/nfa.h"

namespace ridge::grammar {

size_t Automaton::memory_bytes() const {
  return (first_edge_.size() + first_call_.size()) * sizeof(uint32_t) + edges_.size() * sizeof(Edge) +
         calls_.size() * sizeof(Call) + final_.size();
}

StateId Automaton::next(StateId s, uint8_t byte) const {
  const std::span<const Edge> all = edges(s);
  const auto at = std::partition_point(all.begin(), all.end(), [byte](const Edge& e) { return e.hi < byte; });
  return at != all.end() && at->lo <= byte ? at->to : kNoState;
}

class Linker {
 public:
  explicit Linker(const Grammar& g) : g_(g) {}

  Result<std::shared_ptr<const Automaton>> run() {
    RIDGE_CHECK_OK(collect());
    index_backwards();
    live_ = reach(true);
    if (!live_[start_of_[g_.root]]) {
      return fail(
          ErrorCode::invalid_argument,
          "rule '{}' matches no text of finite length: every alternative goes on for ever or is empty of choices",
          g_.name(g_.root));
    }
    nullable_ = reach(false);
    RIDGE_CHECK_OK(refuse_left_recursion());
    return emit();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The automata of all rules that the root reaches, their states numbered through.
  Result<void> collect() {
    start_of_.assign(g_.n_rules(), kNone);
    std::vector<RuleId> order{g_.root};
    start_of_[g_.root] = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      RIDGE_TRY(RuleDfa dfa, build_rule(g_, order[i], budget_));
      const auto base = static_cast<uint32_t>(states_.size());
      start_of_[order[i]] = base;
      for (RuleDfa::State& s : dfa.states) {
        for (auto& e : s.edges) e.to += base;
        for (auto& c : s.calls) {
          c.back += base;
          if (start_of_[c.rule] != kNone) continue;
          start_of_[c.rule] = 0;
          order.push_back(c.rule);
        }
        states_.push_back(std::move(s));
      }
    }
    return {};
  }

  // By state: who reaches it with a byte, who comes back to it, who calls the rule that it starts.
  void index_backwards() {
    by_byte_.resize(states_.size()), by_back_.resize(states_.size()), by_start_.resize(states_.size());
    for (uint32_t s = 0; s < states_.size(); ++s) {
      for (const auto& e : states_[s].edges) by_byte_[e.to].push_back(s);
      for (const auto& c : states_[s].calls) {
        by_back_[c.back].push_back({s, c.rule});
        by_start_[start_of_[c.rule]].push_back({s, c.back});
      }
    }
  }

  // The states that can reach an end of their rule: with bytes, or without any.
  std::vector<uint8_t> reach(bool with_bytes) const {
    std::vector<uint8_t> yes(states_.size(), 0);
    std::vector<uint32_t> work;
    const auto add = [&](uint32_t s) {
      if (!yes[s]) yes[s] = 1, work.push_back(s);
    };
    for (uint32_t s = 0; s < states_.size(); ++s) {
      if (states_[s].is_final) add(s);
    }
    while (!work.empty()) {
      const uint32_t s = work.back();
      work.pop_back();
      if (with_bytes) {
        for (const uint32_t from : by_byte_[s]) add(from);
      }
      for (const auto& [from, rule] : by_back_[s]) {
        if (yes[start_of_[rule]]) add(from);
      }
      for (const auto& [from, back] : by_start_[s]) {
        if (yes[back]) add(from);
      }
    }
    return yes;
  }

  bool is_live(const RuleDfa::Call& c) const { return live_[c.back] && live_[start_of_[c.rule]]; }

  // Rules that a rule may open before any byte: left recursion is a cycle among them.
  std::vector<RuleId> opened_first(RuleId rule) {
    std::vector<RuleId> out;
    std::vector<uint32_t> work{start_of_[rule]};
    ++epoch_;
    seen_.resize(states_.size(), 0);
    seen_[work[0]] = epoch_;
    while (!work.empty()) {
      const uint32_t s = work.back();
      work.pop_back();
      for (const RuleDfa::Call& c : states_[s].calls) {
        if (!is_live(c)) continue;
        out.push_back(c.rule);
        if (nullable_[start_of_[c.rule]] && seen_[c.back] != epoch_) seen_[c.back] = epoch_, work.push_back(c.back);
      }
    }
    return out;
  }

  Result<void> refuse_left_recursion() {
    struct Frame {
      RuleId rule;
      std::vector<RuleId> opens;
      size_t next = 0;
    };
    enum : uint8_t { untouched, open, done };
    std::vector<uint8_t> state(g_.n_rules(), untouched);
    for (RuleId root = 0; root < g_.n_rules(); ++root) {
      if (state[root] != untouched || start_of_[root] == kNone) continue;
      std::vector<Frame> path;
      path.push_back({root, opened_first(root)});
      state[root] = open;
      while (!path.empty()) {
        Frame& top = path.back();
        if (top.next == top.opens.size()) {
          state[top.rule] = done;
          path.pop_back();
          continue;
        }
        const RuleId next = top.opens[top.next++];
        if (state[next] == open) {
          return fail(ErrorCode::invalid_argument,
                      "rule '{}' is left-recursive: it opens '{}' again before it has matched anything; write the "
                      "repetition with * or put the recursion behind a text",
                      g_.name(next), g_.name(top.rule));
        }
        if (state[next] == untouched) {
          state[next] = open;
          path.push_back({next, opened_first(next)});
        }
      }
    }
    return {};
  }

  // Only live states, edges and calls; numbered anew.
  Result<std::shared_ptr<const Automaton>> emit() {
    std::vector<uint32_t> id(states_.size(), kNone);
    uint32_t n = 0;
    for (uint32_t s = 0; s < states_.size(); ++s) {
      if (live_[s]) id[s] = n++;
    }
    auto a = std::make_shared<Automaton>();
    for (uint32_t s = 0; s < states_.size(); ++s) {
      if (!live_[s]) continue;
      a->first_edge_.push_back(static_cast<uint32_t>(a->edges_.size()));
      a->first_call_.push_back(static_cast<uint32_t>(a->calls_.size()));
      a->final_.push_back(states_[s].is_final);
      for (const auto& e : states_[s].edges) {
        if (live_[e.to]) a->edges_.push_back({e.lo, e.hi, id[e.to]});
      }
      for (const auto& c : states_[s].calls) {
        if (!is_live(c)) continue;
        const RuleDfa::State& back = states_[c.back];
        const bool is_tail = back.is_final && back.edges.empty() && back.calls.empty();
        a->calls_.push_back({id[start_of_[c.rule]], id[c.back], is_tail});
      }
    }
    a->first_edge_.push_back(static_cast<uint32_t>(a->edges_.size()));
    a->first_call_.push_back(static_cast<uint32_t>(a->calls_.size()));
    a->start_ = id[start_of_[g_.root]];
    return std::shared_ptr<const Automaton>(std::move(a));
  }

  const Grammar& g_;
  Budget budget_;
  std::vector<uint32_t> start_of_;  // by rule
  std::vector<RuleDfa::State> states_;
  std::vector<std::vector<uint32_t>> by_byte_;
  std::vector<std::vector<std::pair<uint32_t, RuleId>>> by_back_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> by_start_;
  std::vector<uint8_t> live_, nullable_;
  std::vector<uint32_t> seen_;
  uint32_t epoch_ = 0;
};

Result<std::shared_ptr<const Automaton>> compile(const Grammar& grammar) {
  if (grammar.n_rules() > kMaxRules)
    return fail(ErrorCode::limit, "the grammar has {} rules, at most {}", grammar.n_rules(), kMaxRules);
  for (RuleId r = 0; r < grammar.n_rules(); ++r) {
    if (!grammar.is_defined(r))
      return fail(ErrorCode::invalid_argument, "rule '{}' is used and never defined", grammar.name(r));
  }
  return Linker(grammar).run();
}

}  // namespace ridge::grammar
