// Follows all stacks of an Automaton at once. Stacks share their lower parts (nodes that point down); a set of them is
// a configuration, known by a number, so that equal situations are recognised and a byte's effect is computed once.
// One thread. Ends its work with failed() when the text is too ambiguous; it then stays dead.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "text/grammar/automaton.h"

namespace ridge::grammar {

using NodeId = uint32_t;
using ConfigId = uint32_t;

class Machine {
 public:
  static constexpr NodeId kBase = UINT32_MAX;  // below the bottom: the grammar's end
  static constexpr ConfigId kDead = 0;
  static constexpr ConfigId kUnknown = UINT32_MAX;

  struct Node {
    StateId state = 0;
    NodeId below = kBase;
    uint32_t depth = 0;
  };

  explicit Machine(const Automaton& automaton);

  ConfigId start() { return at(automaton_->start(), kBase); }
  // All that can happen when matching stands in `state` above `below`, with the rules that open and end there.
  ConfigId at(StateId state, NodeId below);
  ConfigId at(NodeId node) { return at(nodes_[node].state, nodes_[node].below); }
  // Only the bytes of `state` itself, nothing known of what is below.
  ConfigId alone(StateId state);

  ConfigId step(ConfigId config, uint8_t byte);
  // The configurations after each of the 256 bytes; entries that are kUnknown are filled by next(). Kept until clear().
  ConfigId next(ConfigId config, uint8_t byte) {
    uint32_t& row = configs_[config].row;
    if (row == kUnknown) row = new_row();
    const ConfigId known = rows_[row][byte];
    return known != kUnknown ? known : fill(config, byte);
  }

  bool ends(ConfigId config) const {
    return configs_[config].ends;
  }  // the grammar, or the part above the base, is done
  // The stacks whose top has bytes to offer.
  std::span<const NodeId> tops(ConfigId config) const {
    return {members_.data() + configs_[config].first, configs_[config].n};
  }
  bool is_alive(ConfigId config) const { return config != kDead; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  bool failed() const { return failed_; }
  size_t memory_bytes() const;
  // Forgets everything but `keep`, whose new number is returned.
  ConfigId restart(ConfigId keep);

 private:
  struct Config {
    uint32_t first = 0, n = 0, row = kUnknown;
    bool ends = false;
  };
  NodeId intern(StateId state, NodeId below);
  void push(NodeId node);
  void close();
  ConfigId finish();
  ConfigId fill(ConfigId config, uint8_t byte);
  uint32_t new_row();
  void clear();

  const Automaton* automaton_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, NodeId> node_ids_;
  std::vector<Config> configs_;
  std::vector<NodeId> members_;
  std::unordered_multimap<uint64_t, ConfigId> config_ids_;
  std::vector<std::unique_ptr<std::array<ConfigId, 256>>> rows_allocated_;
  std::vector<ConfigId*> rows_;

  // Of the closure at work.
  std::vector<uint32_t> seen_;
  uint32_t epoch_ = 0;
  std::vector<NodeId> work_, tops_;
  bool ends_ = false, failed_ = false;
};

}  // namespace ridge::grammar
