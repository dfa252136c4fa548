// Aho-Corasick over at most 16 x 256 bytes; children are short lists, since a node has as many as stops part there.
#include "text/stop_matcher.h"

#include <utility>

#include "base/utf8.h"

namespace ridge {

static_assert(kMaxStops * kMaxStopBytes < 65535, "node numbers are 16 bits wide");

Result<StopMatcher> StopMatcher::create(std::span<const std::string> stops) {
  if (stops.size() > kMaxStops) {
    return fail(ErrorCode::invalid_argument, "stop: {} strings given, at most {} are allowed", stops.size(), kMaxStops);
  }
  StopMatcher m;
  for (size_t i = 0; i < stops.size(); ++i) {
    const std::string& stop = stops[i];
    if (stop.empty()) return fail(ErrorCode::invalid_argument, "stop[{}]: is empty; leave it out instead", i);
    if (stop.size() > kMaxStopBytes) {
      return fail(ErrorCode::invalid_argument, "stop[{}]: is {} bytes long, at most {} are allowed", i, stop.size(),
                  kMaxStopBytes);
    }
    if (!utf8_is_valid(stop)) return fail(ErrorCode::invalid_argument, "stop[{}]: is not valid UTF-8", i);
    m.insert(stop, static_cast<int>(i));
  }
  m.link();
  return m;
}

uint16_t StopMatcher::child(uint16_t node, char byte) const {
  uint16_t c = nodes_[node].first_child;
  while (c != 0 && nodes_[c].byte != byte) c = nodes_[c].next_sibling;
  return c;
}

void StopMatcher::insert(std::string_view stop, int index) {
  uint16_t node = 0;
  for (const char byte : stop) {
    uint16_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<uint16_t>(nodes_.size());
      Node n;
      n.next_sibling = nodes_[node].first_child;
      n.depth = static_cast<uint16_t>(nodes_[node].depth + 1);
      n.byte = byte;
      nodes_.push_back(n);
      nodes_[node].first_child = next;
    }
    node = next;
  }
  if (nodes_[node].stop < 0) {
    nodes_[node].stop = static_cast<int16_t>(index);
    nodes_[node].stop_bytes = static_cast<uint16_t>(stop.size());
  }
}

void StopMatcher::link() {
  std::vector<uint16_t> queue;
  for (uint16_t c = nodes_[0].first_child; c != 0; c = nodes_[c].next_sibling) queue.push_back(c);
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint16_t node = queue[i];
    const Node& failed = nodes_[nodes_[node].fail];
    if (nodes_[node].stop < 0) {
      nodes_[node].stop = failed.stop;
      nodes_[node].stop_bytes = failed.stop_bytes;
    }
    for (uint16_t c = nodes_[node].first_child; c != 0; c = nodes_[c].next_sibling) {
      uint16_t f = nodes_[node].fail;
      while (f != 0 && child(f, nodes_[c].byte) == 0) f = nodes_[f].fail;
      nodes_[c].fail = child(f, nodes_[c].byte);
      queue.push_back(c);
    }
  }
}

StopMatcher::Step StopMatcher::push(std::string_view text) {
  Step step;
  if (stopped_ >= 0 || text.empty()) return step;
  if (nodes_.size() == 1) {
    step.text.assign(text);
    return step;
  }
  std::string all = std::move(held_);
  held_.clear();
  const size_t from = all.size();
  all.append(text);
  for (size_t i = from; i < all.size(); ++i) {
    uint16_t next = child(at_, all[i]);
    while (next == 0 && at_ != 0) {
      at_ = nodes_[at_].fail;
      next = child(at_, all[i]);
    }
    at_ = next;
    if (nodes_[at_].stop >= 0) {
      stopped_ = step.stopped = nodes_[at_].stop;
      all.resize(i + 1 - nodes_[at_].stop_bytes);
      step.text = std::move(all);
      return step;
    }
  }
  const size_t n_held = nodes_[at_].depth;
  held_.assign(all, all.size() - n_held, n_held);
  all.resize(all.size() - n_held);
  step.text = std::move(all);
  return step;
}

std::string StopMatcher::finish() {
  at_ = 0;
  return std::exchange(held_, {});
}

}  // namespace ridge
