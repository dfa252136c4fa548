// The face: where exceptions end.
#include "text/jinja/chat_template.h"

#include <algorithm>
#include <new>
#include <optional>

#include "text/jinja/bind.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/lexer.h"
#include "text/jinja/parser.h"

namespace ridge::jinja {

namespace {

tl::unexpected<Error> to_error(const Failure& failure, int line) {
  const int at = failure.line != 0 ? failure.line : line;
  if (at == 0) return fail(failure.code, "chat template: {}: {}", failure.type, failure.message);
  return fail(failure.code, "chat template, line {}: {}: {}", at, failure.type, failure.message);
}

Result<MarkedText> render_text(const Template& tmpl, const Value& variables, const RenderOptions& options) {
  if (!variables.is(Kind::dict))
    return fail(ErrorCode::invalid_argument, "the variables of a chat template must be a dict");
  try {
    std::optional<Interpreter> interpreter;
    try {
      interpreter.emplace(tmpl, variables, options);
      return interpreter->run();
    } catch (const Failure& failure) {
      return to_error(failure, interpreter ? interpreter->line() : 0);
    }
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "chat template: not enough memory to render it");
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, "chat template: {}", e.what());
  }
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  try {
    auto tmpl = std::make_shared<Template>();
    tmpl->body = Parser(tokenize(source)).parse();
    bind(*tmpl);
    return ChatTemplate(std::move(tmpl));
  } catch (const Failure& failure) {
    return to_error(failure, 0);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "chat template of {} bytes: not enough memory to parse it", source.size());
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, "chat template: {}", e.what());
  }
}

Result<std::string> ChatTemplate::render(const Value& variables, const RenderOptions& options) const {
  RIDGE_TRY(const MarkedText text, render_text(*template_, variables, options));
  return text.bytes();
}

Result<std::vector<Segment>> ChatTemplate::render_segments(const Value& variables, const RenderOptions& options) const {
  RIDGE_TRY(const MarkedText text, render_text(*template_, variables, options));
  std::vector<Segment> segments;
  text.for_each_part([&](std::string_view part, bool trusted) { segments.push_back({std::string(part), trusted}); });
  return segments;
}

bool ChatTemplate::uses_variable(std::string_view name) const {
  const auto& names = template_->context_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace ridge::jinja
