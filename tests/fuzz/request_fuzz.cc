// Bodies of HTTP requests: each parser gives a request within its limits, or one error; what it accepts stays in range.
// Input: a byte that chooses the parser; the rest is the body.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/anthropic/messages.h"
#include "api/native/completion.h"
#include "api/native/tools.h"

namespace {

using namespace ridge;
using namespace ridge::api;

constexpr size_t kMaxInputBytes = size_t{1} << 16;

void require(bool ok) {
  if (!ok) std::abort();
}

void check(const Generation& g) {
  require(g.n >= 1 && g.n <= kMaxChoices);
  require(g.max_tokens >= -1);
  require(g.stop.size() <= 16);
  require(g.n_logprobs >= -1 && g.sampling.n_probs >= 0);
  require(g.sampling.top_p >= 0 && g.sampling.top_p <= 1);
  require(g.sampling.temperature >= -100 && g.sampling.temperature <= 100);
  require(g.sampling.logit_bias.size() <= kMaxBiasEntries);
  require(!settings_text(g).empty());
}

void check(const Result<ChatRequest>& r) {
  if (!r) return require(!r.error().message.empty());
  require(!r->messages.empty() && r->messages.size() <= kMaxMessages + 1);
  check(r->generation);
}

void check(const Result<CompletionRequest>& r) {
  if (!r) return require(!r.error().message.empty());
  require(!r->prompts.empty() && r->prompts.size() <= kMaxPrompts);
  check(r->generation);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > kMaxInputBytes) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      check(parse_chat(body, {}));
      break;
    case 1:
      check(parse_completion(body, {}));
      break;
    case 2:
      check(parse_native_completion(body, {}));
      break;
    case 3:
      check(parse_anthropic(body, {}));
      break;
    case 4:
      (void)parse_tokenize(body);
      break;
    case 5:
      (void)parse_detokenize(body);
      break;
    default:
      (void)parse_apply_template(body);
  }
  return 0;
}
