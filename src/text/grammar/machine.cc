#include "text/grammar/machine.h"

#include <algorithm>

#include "text/grammar/limits.h"

namespace ridge::grammar {

Machine::Machine(const Automaton& automaton) : automaton_(&automaton) {
  clear();
}

void Machine::clear() {
  nodes_.clear(), node_ids_.clear(), configs_.clear(), members_.clear(), config_ids_.clear();
  rows_allocated_.clear(), rows_.clear(), seen_.clear();
  epoch_ = 0;
  configs_.emplace_back();  // kDead
}

size_t Machine::memory_bytes() const {
  // A hash entry is about 40 bytes with its bucket.
  return nodes_.size() * (sizeof(Node) + 44) + configs_.size() * (sizeof(Config) + 40) +
         members_.size() * sizeof(NodeId) + rows_.size() * (256 * sizeof(ConfigId) + 32);
}

NodeId Machine::intern(StateId state, NodeId below) {
  const uint64_t key = (uint64_t{below} << 32) | state;
  const auto [at, is_new] = node_ids_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({state, below, below == kBase ? 0 : nodes_[below].depth + 1});
    seen_.push_back(0);
  }
  return at->second;
}

void Machine::push(NodeId node) {
  if (seen_[node] == epoch_) return;
  seen_[node] = epoch_;
  work_.push_back(node);
}

// Opens and ends rules until every stack stands before a byte. Ends: a stack is known by its number, so that each is
// visited once, and there is no left recursion.
void Machine::close() {
  size_t n_visited = 0;
  while (!work_.empty()) {
    const NodeId at = work_.back();
    const Node node = nodes_[at];
    work_.pop_back();
    if (++n_visited > 4 * kMaxAlternatives || tops_.size() > kMaxAlternatives) {
      failed_ = true;
      work_.clear();
      return;
    }
    if (!automaton_->edges(node.state).empty()) tops_.push_back(at);
    if (automaton_->is_final(node.state)) {
      if (node.below == kBase) {
        ends_ = true;
      } else {
        push(node.below);
      }
    }
    for (const Automaton::Call& c : automaton_->calls(node.state)) {
      if (!c.is_tail && node.depth >= kMaxDepth) continue;  // deeper than the limit: this way is closed
      push(intern(c.start, c.is_tail ? node.below : intern(c.back, node.below)));
    }
  }
}

ConfigId Machine::finish() {
  if (failed_ || (tops_.empty() && !ends_)) return kDead;
  std::sort(tops_.begin(), tops_.end());
  uint64_t hash = ends_ ? 0x5851f42d4c957f2dULL : 0;
  for (const NodeId n : tops_) hash = (hash ^ n) * 0xff51afd7ed558ccdULL, hash ^= hash >> 32;
  const auto [lo, hi] = config_ids_.equal_range(hash);
  for (auto it = lo; it != hi; ++it) {
    const Config& c = configs_[it->second];
    if (c.ends == ends_ &&
        std::equal(tops_.begin(), tops_.end(), members_.begin() + c.first, members_.begin() + c.first + c.n))
      return it->second;
  }
  configs_.push_back({.first = static_cast<uint32_t>(members_.size()),
                      .n = static_cast<uint32_t>(tops_.size()),
                      .row = kUnknown,
                      .ends = ends_});
  members_.insert(members_.end(), tops_.begin(), tops_.end());
  const auto id = static_cast<ConfigId>(configs_.size() - 1);
  config_ids_.emplace(hash, id);
  return id;
}

ConfigId Machine::at(StateId state, NodeId below) {
  ++epoch_, tops_.clear(), ends_ = false;
  push(intern(state, below));
  close();
  return finish();
}

ConfigId Machine::alone(StateId state) {
  tops_.assign(1, intern(state, kBase));
  ends_ = false;
  return finish();
}

ConfigId Machine::step(ConfigId config, uint8_t byte) {
  ++epoch_, tops_.clear(), ends_ = false;
  const Config c = configs_[config];
  for (uint32_t i = 0; i < c.n; ++i) {
    const Node top = nodes_[members_[c.first + i]];
    const StateId to = automaton_->next(top.state, byte);
    if (to != Automaton::kNoState) push(intern(to, top.below));
  }
  close();
  return finish();
}

uint32_t Machine::new_row() {
  rows_allocated_.push_back(std::make_unique<std::array<ConfigId, 256>>());
  rows_allocated_.back()->fill(kUnknown);
  rows_.push_back(rows_allocated_.back()->data());
  return static_cast<uint32_t>(rows_.size() - 1);
}

ConfigId Machine::fill(ConfigId config, uint8_t byte) {
  const ConfigId to = step(config, byte);
  rows_[configs_[config].row][byte] = to;
  return to;
}

ConfigId Machine::restart(ConfigId keep) {
  // Each stack from its bottom up.
  std::vector<std::vector<StateId>> stacks;
  for (const NodeId top : tops(keep)) {
    stacks.emplace_back();
    for (NodeId n = top; n != kBase; n = nodes_[n].below) stacks.back().push_back(nodes_[n].state);
  }
  const bool ends = configs_[keep].ends, is_dead = keep == kDead;
  clear();
  if (is_dead) return kDead;
  tops_.clear();
  for (const auto& stack : stacks) {
    NodeId below = kBase;
    for (auto it = stack.rbegin(); it != stack.rend(); ++it) below = intern(*it, below);
    tops_.push_back(below);
  }
  ends_ = ends;
  return finish();
}

}  // namespace ridge::grammar
