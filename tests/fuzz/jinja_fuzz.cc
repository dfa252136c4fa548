// Any bytes as a chat template, rendered over a small conversation under tight limits: whatever they are, text or an
// error comes back, the pieces join to the text, and no text of the user is ever trusted.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/jinja/chat_template.h"

using ridge::jinja::ChatTemplate;
using ridge::jinja::RenderOptions;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto variables = ridge::jinja::value_from_json(
      R"({"messages":[{"role":"system","content":"S"},{"role":"user","content":"hi \u2603 {{ x }}\n"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"a":[1,2.5,true]}}}]}],)"
      R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"array"}}}}}],)"
      R"("add_generation_prompt":true,"bos_token":"<s>","eos_token":"</s>","n":7,"f":-2.5,"u":"\uE000\uE001"})");
  RenderOptions options;
  options.now = ridge::jinja::CivilTime{2026, 7, 4, 9, 5, 3};
  options.limits.steps = 20'000;
  options.limits.output_bytes = 1u << 16;
  const auto tmpl = ChatTemplate::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!tmpl) return 0;
  const auto text = tmpl->render(*variables, options);
  const auto segments = tmpl->render_segments(*variables, options);
  if (text.has_value() != segments.has_value()) std::abort();
  if (!text) return 0;
  std::string joined;
  // A template can make the user's private characters itself: literally, by an escape, or from a number with %c and
  // {:c}.
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const bool only_users =
      source.find("\xEE\x80\x80") == std::string_view::npos && source.find_first_of("\\c") == std::string_view::npos;
  for (const auto& segment : *segments) {
    joined += segment.text;
    if (segment.trusted && only_users && segment.text.find("\xEE\x80\x80") != std::string::npos) std::abort();
  }
  if (joined != *text) std::abort();
  return 0;
}
