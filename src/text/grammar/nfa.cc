#include "text/grammar/nfa.h"

#include <algorithm>
#include <unordered_map>

#include "text/grammar/limits.h"

namespace ridge::grammar {
namespace {

// Rules of at most this many parts become part of their caller: their frames would cost more than their copies.
constexpr size_t kMaxInlineParts = 24;
constexpr int kMaxInlineDepth = 4;

struct Nfa {
  enum class Kind : uint8_t { empty, bytes, call };
  struct Edge {
    uint32_t from = 0, to = 0;
    Kind kind = Kind::empty;
    uint8_t lo = 0, hi = 0;
    RuleId rule = 0;
  };
  std::vector<Edge> edges;      // sorted by `from` once built
  std::vector<uint32_t> first;  // of each state
  uint32_t n_states = 0;
};

class Builder {
 public:
  Builder(const Grammar& grammar, Budget& budget) : g_(grammar), budget_(budget) {}

  Nfa build(ExprId body) {
    const uint32_t start = state(), end = state();
    add(body, start, end, 0);
    index();
    return std::move(nfa_);
  }

 private:
  uint32_t state() {
    ++budget_.n_parts;
    return nfa_.n_states++;
  }
  void edge(Nfa::Edge e) {
    ++budget_.n_steps;
    nfa_.edges.push_back(e);
  }

  void add(ExprId id, uint32_t from, uint32_t to, int inlined) {
    if (budget_.is_spent()) return;
    const Expr& e = g_.at(id);
    switch (e.kind) {
      case ExprKind::text:
        return add_text(g_.bytes(e), from, to);
      case ExprKind::chars:
        return add_chars(g_.set(e), from, to);
      case ExprKind::seq:
        for (size_t i = 0; i < e.n; ++i) {
          const uint32_t next = i + 1 == e.n ? to : state();
          add(g_.child(e, i), from, next, inlined);
          from = next;
        }
        if (e.n == 0) edge({.from = from, .to = to});
        return;
      case ExprKind::alt:
        for (size_t i = 0; i < e.n; ++i) add(g_.child(e, i), from, to, inlined);
        return;
      case ExprKind::repeat:
        return add_repeat(e, from, to, inlined);
      case ExprKind::rule:
        if (size_t parts = 0; inlined < kMaxInlineDepth && is_small(g_.body(e.first), inlined, parts))
          return add(g_.body(e.first), from, to, inlined + 1);
        return edge({.from = from, .to = to, .kind = Nfa::Kind::call, .rule = e.first});
    }
  }

  void add_text(std::string_view bytes, uint32_t from, uint32_t to) {
    if (bytes.empty()) return edge({.from = from, .to = to});
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint32_t next = i + 1 == bytes.size() ? to : state();
      const auto b = static_cast<uint8_t>(bytes[i]);
      edge({.from = from, .to = next, .kind = Nfa::Kind::bytes, .lo = b, .hi = b});
      from = next;
    }
  }

  void add_chars(const CharSet& set, uint32_t from, uint32_t to) {
    for (const Utf8Sequence& s : utf8_sequences(set)) {
      uint32_t at = from;
      for (uint32_t i = 0; i < s.n; ++i) {
        const uint32_t next = i + 1 == s.n ? to : state();
        edge({.from = at, .to = next, .kind = Nfa::Kind::bytes, .lo = s.bytes[i].lo, .hi = s.bytes[i].hi});
        at = next;
      }
    }
  }

  // Loops have a state of their own, so that nobody else's edges fall into them.
  void add_repeat(const Expr& e, uint32_t from, uint32_t to, int inlined) {
    const ExprId part = g_.child(e, 0);
    for (uint32_t i = 0; i < e.min && !budget_.is_spent(); ++i) {
      const uint32_t next = state();
      add(part, from, next, inlined);
      from = next;
    }
    if (e.max == kNoMax) {
      const uint32_t loop = state();
      edge({.from = from, .to = loop});
      add(part, loop, loop, inlined);
      return edge({.from = loop, .to = to});
    }
    for (uint32_t i = e.min; i < e.max && !budget_.is_spent(); ++i) {
      edge({.from = from, .to = to});
      const uint32_t next = state();
      add(part, from, next, inlined);
      from = next;
    }
    edge({.from = from, .to = to});
  }

  bool is_small(ExprId id, int depth, size_t& parts) const {
    const Expr& e = g_.at(id);
    parts += e.kind == ExprKind::text ? e.n : 1;
    if (parts > kMaxInlineParts) return false;
    if (e.kind == ExprKind::rule) return depth + 1 < kMaxInlineDepth && is_small(g_.body(e.first), depth + 1, parts);
    if (e.kind == ExprKind::repeat) {
      const size_t times = e.max == kNoMax ? size_t{e.min} + 1 : e.max;
      for (size_t i = 0; i < times; ++i) {
        if (!is_small(g_.child(e, 0), depth, parts)) return false;
      }
      return true;
    }
    const bool has_children = e.kind == ExprKind::seq || e.kind == ExprKind::alt;
    for (size_t i = 0; has_children && i < e.n; ++i) {
      if (!is_small(g_.child(e, i), depth, parts)) return false;
    }
    return true;
  }

  void index() {
    std::stable_sort(nfa_.edges.begin(), nfa_.edges.end(),
                     [](const Nfa::Edge& a, const Nfa::Edge& b) { return a.from < b.from; });
    nfa_.first.assign(nfa_.n_states + 1, 0);
    for (const Nfa::Edge& e : nfa_.edges) ++nfa_.first[e.from + 1];
    for (uint32_t i = 0; i < nfa_.n_states; ++i) nfa_.first[i + 1] += nfa_.first[i];
  }

  const Grammar& g_;
  Budget& budget_;
  Nfa nfa_;
};

class Determiniser {
 public:
  Determiniser(const Nfa& nfa, Budget& budget) : nfa_(nfa), budget_(budget), seen_(nfa.n_states, 0) {}

  RuleDfa run() {
    id_of({0});
    for (uint32_t at = 0; at < out_.states.size() && !budget_.is_spent(); ++at) expand(at);
    return std::move(out_);
  }

 private:
  using Set = std::vector<uint32_t>;
  struct SetHash {
    size_t operator()(const Set& s) const {
      uint64_t h = 0x9e3779b97f4a7c15ULL;
      for (const uint32_t x : s) h = (h ^ x) * 0xff51afd7ed558ccdULL, h ^= h >> 29;
      return h;
    }
  };

  uint32_t id_of(const Set& kernel) {
    Set set = closure(kernel);
    const auto [at, is_new] = ids_.try_emplace(std::move(set), static_cast<uint32_t>(out_.states.size()));
    if (is_new) {
      ++budget_.n_states;
      sets_.push_back(&at->first);
      out_.states.emplace_back();
      // State 1 of a rule's NFA is its end.
      out_.states.back().is_final = std::binary_search(at->first.begin(), at->first.end(), 1U);
    }
    return at->second;
  }

  // Only states with an edge that is not empty, and the end, are kept: the others say nothing more.
  Set closure(const Set& kernel) {
    Set out, work;
    ++epoch_;
    const auto push = [&](uint32_t s) {
      if (seen_[s] != epoch_) seen_[s] = epoch_, work.push_back(s);
    };
    for (const uint32_t s : kernel) push(s);
    while (!work.empty()) {
      const uint32_t s = work.back();
      work.pop_back();
      bool keep = s == 1;
      for (uint32_t i = nfa_.first[s]; i < nfa_.first[s + 1]; ++i) {
        ++budget_.n_steps;
        const Nfa::Edge& e = nfa_.edges[i];
        if (e.kind == Nfa::Kind::empty) {
          push(e.to);
        } else {
          keep = true;
        }
      }
      if (keep) out.push_back(s);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void expand(uint32_t at) {
    std::vector<const Nfa::Edge*> bytes, calls;
    bool cuts[257] = {};
    for (const uint32_t s : *sets_[at]) {
      for (uint32_t i = nfa_.first[s]; i < nfa_.first[s + 1]; ++i) {
        const Nfa::Edge& e = nfa_.edges[i];
        if (e.kind == Nfa::Kind::call) calls.push_back(&e);
        if (e.kind != Nfa::Kind::bytes) continue;
        bytes.push_back(&e);
        cuts[e.lo] = cuts[e.hi + 1] = true;
      }
    }
    expand_bytes(at, bytes, cuts);
    std::stable_sort(calls.begin(), calls.end(), [](const auto* a, const auto* b) { return a->rule < b->rule; });
    for (size_t i = 0; i < calls.size() && !budget_.is_spent();) {
      Set to;
      const RuleId rule = calls[i]->rule;
      for (; i < calls.size() && calls[i]->rule == rule; ++i) to.push_back(calls[i]->to);
      const uint32_t back = id_of(to);
      out_.states[at].calls.push_back({rule, back});
    }
  }

  void expand_bytes(uint32_t at, const std::vector<const Nfa::Edge*>& bytes, const bool* cuts) {
    int segment_of[257], starts[257], n_segments = 0;
    for (int b = 0; b < 256; ++b) {
      if (b == 0 || cuts[b]) starts[n_segments++] = b;
      segment_of[b] = n_segments - 1;
    }
    starts[n_segments] = 256;
    std::vector<Set> to(static_cast<size_t>(n_segments));
    for (const Nfa::Edge* e : bytes) {
      for (int s = segment_of[e->lo]; s <= segment_of[e->hi]; ++s) {
        ++budget_.n_steps;
        to[static_cast<size_t>(s)].push_back(e->to);
      }
    }
    for (int s = 0; s < n_segments && !budget_.is_spent(); ++s) {
      if (to[static_cast<size_t>(s)].empty()) continue;
      const uint32_t target = id_of(to[static_cast<size_t>(s)]);
      auto& edges = out_.states[at].edges;
      const auto lo = static_cast<uint8_t>(starts[s]), hi = static_cast<uint8_t>(starts[s + 1] - 1);
      if (!edges.empty() && edges.back().to == target && edges.back().hi + 1 == lo) {
        edges.back().hi = hi;
      } else {
        edges.push_back({lo, hi, target});
      }
    }
  }

  const Nfa& nfa_;
  Budget& budget_;
  std::vector<uint32_t> seen_;
  uint32_t epoch_ = 0;
  std::unordered_map<Set, uint32_t, SetHash> ids_;
  std::vector<const Set*> sets_;
  RuleDfa out_;
};

}  // namespace

bool Budget::is_spent() const {
  return n_parts > kMaxParts || n_states > kMaxStates || n_steps > kMaxCompileSteps;
}

Error Budget::error() const {
  const auto said = [](const char* what, size_t limit) {
    return Error{ErrorCode::limit,
                 fmt::format("the grammar is too large: more than {} {}; fewer or smaller repetitions "
                             "and alternatives help",
                             limit, what)};
  };
  if (n_parts > kMaxParts) return said("parts after repetitions are written out", kMaxParts);
  if (n_states > kMaxStates) return said("states", kMaxStates);
  return said("steps to compile it", kMaxCompileSteps);
}

Result<RuleDfa> build_rule(const Grammar& grammar, RuleId rule, Budget& budget) {
  const Nfa nfa = Builder(grammar, budget).build(grammar.body(rule));
  RuleDfa dfa;
  if (!budget.is_spent()) dfa = Determiniser(nfa, budget).run();
  if (budget.is_spent()) return in_context(fmt::format("rule '{}'", grammar.name(rule)), budget.error());
  return dfa;
}

}  // namespace ridge::grammar
