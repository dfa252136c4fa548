// The first line is a pattern, the rest a text: refused with a message, or searched for in time that the two lengths
// bound; what is found is found in any longer text too, unless the pattern speaks of the text's ends.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 2048) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t line = all.find('\n');
  const std::string_view pattern = all.substr(0, line);
  const std::string text(line == std::string_view::npos ? "" : all.substr(line + 1));
  const auto p = ridge::Pattern::parse(pattern);
  if (!p) {
    if (p.error().message.empty()) std::abort();
    return 0;
  }
  const bool speaks_of_ends = pattern.find_first_of("^$") != std::string_view::npos;
  if (p->found_in(text) && !speaks_of_ends && !p->found_in("x" + text + "x")) std::abort();
  return 0;
}
