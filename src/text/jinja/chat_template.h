// The chat template of a model: parsed once, rendered for each request, from any thread. It renders what Jinja2 3.1
// renders when set up as the transformers library does (sandboxed and immutable, trim_blocks, lstrip_blocks, break and
// continue, the generation tag, tojson, raise_exception, strftime_now). An error is an error of the template: there is
// no other format to fall back to. Refused: include, import, extends, autoescape, and whatever would leave the text
// (random, lipsum).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/budget.h"
#include "text/jinja/value.h"

namespace ridge::jinja {

// Local time, as strftime_now prints it.
struct CivilTime {
  int year = 1970, month = 1, day = 1;  // month and day from 1
  int hour = 0, minute = 0, second = 0;
};

struct RenderOptions {
  std::optional<CivilTime> now;  // absent: the machine's clock and time zone
  RenderLimits limits;
  // Variables whose text counts as the template's own. All other text is untrusted unless made by
  // Value::trusted_string.
  std::vector<std::string> trusted_variables = {"bos_token", "eos_token", "pad_token",
                                                "unk_token", "sep_token", "cls_token"};
};

// A piece of a rendering, of one origin. Control tokens may be recognised only in trusted text.
struct Segment {
  std::string text;
  bool trusted = false;
};

struct Template;

class ChatTemplate {
 public:
  // template_error with the line, if the text is no template.
  static Result<ChatTemplate> parse(std::string_view source);

  // variables: a dict with the keys messages, tools, add_generation_prompt, bos_token, ... Error: template_error, whose
  // message is "chat template, line 12: TypeError: ..." in Jinja2's words; for raise_exception "TemplateError: <its
  // text>".
  Result<std::string> render(const Value& variables, const RenderOptions& options = {}) const;

  // The same text in pieces; joined they are exactly what render gives. Neighbours differ in origin.
  Result<std::vector<Segment>> render_segments(const Value& variables, const RenderOptions& options = {}) const;

  // Whether the template reads a variable of this name that it has not set before ("tools", "enable_thinking").
  bool uses_variable(std::string_view name) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const Template> t) : template_(std::move(t)) {}
  std::shared_ptr<const Template> template_;  // shared: copies of a ChatTemplate are cheap and immutable
};

}  // namespace ridge::jinja
