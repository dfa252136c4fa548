// How each format writes one call: tells from the text behind a marker whether a call is whole, unfinished or none.
// Pure functions; the parser (tool_calls.cc) keeps the state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tools/tool_calls.h"

namespace ridge::tools {

struct Found {
  enum class State : uint8_t { unfinished, whole, none } state = State::unfinished;
  std::string name = {};       // once it is known
  std::string arguments = {};  // so far; only ever grows while the text does
  size_t n_bytes = 0;          // whole, none: what it takes of the text
  bool opens_list = false;     // a list of calls follows (Mistral)
  // Harmony: what is no call but text of a channel.
  bool is_text = false, is_reasoning = false;
};

// The texts that begin something else than content; of those at the same place the first counts.
std::vector<std::string_view> markers(Format format);
// Behind a marker, which `text` begins with. `is_final`: nothing will be added.
Found read_call(Format format, std::string_view text, bool is_final);
// An element of Mistral's list, with the comma before or the bracket behind it; none: the list is over.
Found read_list(std::string_view text, bool is_final);

}  // namespace ridge::tools
