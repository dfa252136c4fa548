// Bytes of a stream and how it is cut: characters and stop strings must not depend on the cutting.
// Input: a count byte (0..7) and that many stops, each a length byte (0..31) and its text; a seed byte; the rest is the
// stream.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

namespace {

using namespace ridge;

constexpr size_t kMaxInputBytes = size_t{1} << 16;

void require(bool ok) {
  if (!ok) std::abort();
}

// By definition: the text before the stop that is complete first; of those complete there, the longest.
std::string cut_slowly(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& s : stops) {
      if (s.size() <= end && s.size() > longest && text.compare(end - s.size(), s.size(), s) == 0) longest = s.size();
    }
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > kMaxInputBytes) return 0;
  size_t at = 0;
  const auto take = [&](size_t n) {
    n = std::min(n, size - at);
    const std::string_view s(reinterpret_cast<const char*>(data) + at, n);
    at += n;
    return s;
  };
  std::vector<std::string> stops;
  for (size_t n = data[at++] & 7; n > 0 && at < size; --n) {
    const size_t n_bytes = data[at++] & 31;
    stops.emplace_back(take(n_bytes));
  }
  uint32_t seed = at < size ? data[at++] : 1;
  const std::string_view bytes = take(size);
  auto matcher = StopMatcher::create(stops);
  Utf8Stream stream;
  std::string text, shown;
  for (size_t from = 0; from < bytes.size();) {
    seed = seed * 1664525 + 1013904223;
    const size_t n = 1 + (seed >> 28);
    const size_t before = text.size();
    stream.push(bytes.substr(from, n), text);
    require(stream.n_held() <= 3);
    if (matcher) shown += matcher->push(std::string_view(text).substr(before)).text;
    from += n;
  }
  const size_t before = text.size();
  stream.finish(text);
  require(text == utf8_sanitise(bytes));
  require(utf8_is_valid(text));
  if (!matcher) return 0;
  shown += matcher->push(std::string_view(text).substr(before)).text;
  shown += matcher->finish();
  require(shown == cut_slowly(text, stops));
  require(utf8_is_valid(shown));
  return 0;
}
