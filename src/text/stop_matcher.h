// Stop strings in a stream of text: found wherever the tokens' borders fall, never shown, not even in part. Text that
// might be the beginning of a stop is held back and released as soon as it cannot be; nothing is ever sent twice. The
// result does not depend on how the text was cut into pieces: the match that is complete first ends the text, the
// longest of those that are complete at the same byte. Aho-Corasick, so linear in the text. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ridge {

inline constexpr size_t kMaxStops = 16;
inline constexpr size_t kMaxStopBytes = 256;

class StopMatcher {
 public:
  // Errors: more than kMaxStops, an empty stop, one longer than kMaxStopBytes, one that is not UTF-8.
  static Result<StopMatcher> create(std::span<const std::string> stops);

  struct Step {
    std::string text;  // what may be shown now
    int stopped = -1;  // the index of the stop that ended the text
  };
  // After a stop, further text is dropped.
  Step push(std::string_view text);
  // The text ends without a stop: what was held back.
  std::string finish();
  bool stopped() const { return stopped_ >= 0; }
  size_t n_held_bytes() const { return held_.size(); }

 private:
  struct Node {
    uint16_t first_child = 0, next_sibling = 0;  // 0: none (the root is nobody's child)
    uint16_t fail = 0;
    uint16_t depth = 0;
    int16_t stop = -1;        // the stop that ends here, longest first along the fail links
    uint16_t stop_bytes = 0;  // its length
    char byte = 0;
  };
  StopMatcher() : nodes_(1) {}
  uint16_t child(uint16_t node, char byte) const;
  void insert(std::string_view stop, int index);
  void link();

  std::vector<Node> nodes_;
  uint16_t at_ = 0;
  int stopped_ = -1;
  std::string held_;  // the last nodes_[at_].depth bytes
};

}  // namespace ridge
