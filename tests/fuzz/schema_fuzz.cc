// JSON schemas: any bytes end in a grammar or an error that says something; a grammar that compiles yields texts of
// JSON.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "text/grammar/automaton.h"
#include "text/grammar/machine.h"
#include "text/grammar/schema.h"

namespace {

using namespace ridge;
using namespace ridge::grammar;

constexpr size_t kMaxInputBytes = 8192;

void require(bool ok) {
  if (!ok) std::abort();
}

// Every accepted text is JSON; a walk by random bytes finds one of them, or gives up.
void check_sample(const Automaton& a, uint64_t seed) {
  Machine m(a);
  ConfigId at = m.start();
  std::string text;
  for (uint64_t step = 0; step < 400; ++step) {
    if (m.failed()) return;
    require(at != Machine::kDead);
    if (m.ends(at)) require(nlohmann::json::accept(text));
    std::string can;
    for (int b = 0; b < 256; ++b) {
      if (m.next(at, static_cast<uint8_t>(b)) != Machine::kDead) can += static_cast<char>(b);
    }
    if (can.empty()) {
      require(m.ends(at));
      return;
    }
    char next = can[random_bits(seed, 0, step) % can.size()];
    for (const char c : {'"', '}', ']'}) {
      if (step > 60 && can.find(c) != can.npos) next = c;
    }
    text += next;
    at = m.next(at, static_cast<uint8_t>(next));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxInputBytes) return 0;
  const auto g = parse_json_schema({reinterpret_cast<const char*>(data), size});
  if (!g) {
    require(!g.error().message.empty());
    return 0;
  }
  const auto a = compile(*g);
  if (!a) {
    require(!a.error().message.empty());
    return 0;
  }
  for (uint64_t seed = 0; seed < 3; ++seed) check_sample(**a, seed);
  return 0;
}
