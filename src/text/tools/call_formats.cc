#include "text/tools/call_formats.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/tools/json_scanner.h"

namespace ridge::tools {
namespace {

using Json = nlohmann::ordered_json;
using State = Found::State;

constexpr std::string_view kSpace = " \t\r\n";
constexpr int kMaxNesting = 200;  // of the arguments: a parser that recurses reads them

size_t skip_space(std::string_view text, size_t at) {
  const size_t next = text.find_first_not_of(kSpace, std::min(at, text.size()));
  return next == text.npos ? text.size() : next;
}

struct Span {
  size_t begin = 0, end = std::string_view::npos;  // end: npos while unfinished
  bool too_deep = false;
};

Span value_at(std::string_view text, size_t begin) {
  Span out{.begin = begin};
  JsonScanner scanner;
  for (size_t i = begin; i < text.size(); ++i) {
    const bool done = scanner.push(text[i]);
    if (scanner.depth() > kMaxNesting) return {.begin = begin, .end = i, .too_deep = true};
    if (done) {
      out.end = scanner.ended_behind() ? i : i + 1;
      return out;
    }
  }
  return out;
}

// The member of an object that may be unfinished: only those whose name and colon are there.
std::vector<std::pair<std::string_view, Span>> members(std::string_view object) {
  std::vector<std::pair<std::string_view, Span>> out;
  for (size_t at = 1; at < object.size();) {
    at = skip_space(object, at);
    if (at < object.size() && object[at] == ',') at = skip_space(object, at + 1);
    if (at >= object.size() || object[at] != '"') return out;
    const Span key = value_at(object, at);
    if (key.end == object.npos) return out;
    const size_t colon = skip_space(object, key.end);
    if (colon >= object.size() || object[colon] != ':') return out;
    const size_t begin = skip_space(object, colon + 1);
    if (begin >= object.size()) return out;
    const Span value = value_at(object, begin);
    out.emplace_back(object.substr(key.begin + 1, key.end - key.begin - 2), value);
    if (value.end == object.npos) return out;
    at = value.end;
  }
  return out;
}

std::string unquoted(std::string_view json) {
  const Json value = Json::parse(json, nullptr, false);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_arguments(std::string_view key) {
  return key == "arguments" || key == "parameters";
}

// {"name": ..., "arguments": {...}} at the beginning of `text`; n_bytes is the object's.
Found read_object(std::string_view text) {
  Found out;
  const Span whole = value_at(text, 0);
  if (whole.too_deep) return {.state = State::none, .n_bytes = text.size()};
  const std::string_view object = text.substr(0, whole.end);
  std::string_view arguments;
  bool is_whole = false;
  for (const auto& [key, value] : members(object)) {
    is_whole = value.end != object.npos;
    const std::string_view found = object.substr(value.begin, is_whole ? value.end - value.begin : object.npos);
    if (key == "name" && is_whole && out.name.empty()) out.name = unquoted(found);
    if (is_arguments(key) && arguments.empty()) arguments = found;
  }
  // Before the name is known nothing is handed on; a list or a text in place of an object waits for its end.
  if (whole.end == text.npos) {
    if (!out.name.empty() && arguments.starts_with('{')) out.arguments = arguments;
    return out;
  }
  out.n_bytes = whole.end;
  if (!Json::accept(object) || out.name.empty()) return {.state = State::none, .n_bytes = whole.end};
  out.arguments = arguments.starts_with('"') ? unquoted(arguments) : std::string(arguments);
  if (out.arguments.empty() || out.arguments == "null") out.arguments = "{}";
  const bool is_object = out.arguments.starts_with('{') && Json::accept(out.arguments);
  out.state = is_object ? State::whole : State::none;
  return out;
}

// Takes `mark` behind a whole call; waits for it while it may still come.
Found closed_by(Found call, std::string_view text, size_t at, std::string_view mark, bool is_final) {
  if (call.state != State::whole) return call;
  at = skip_space(text, at);
  const std::string_view rest = text.substr(at);
  if (rest.starts_with(mark)) {
    call.n_bytes = at + mark.size();
  } else if (mark.starts_with(rest) && !is_final) {
    call.state = State::unfinished;
  }
  return call;
}

// JSON arguments behind a name that is known.
Found named_call(std::string name, std::string_view text, size_t begin, std::string_view close, bool is_final) {
  Found out{.name = std::move(name)};
  begin = skip_space(text, begin);
  if (begin >= text.size()) return out;
  const Span value = value_at(text, begin);
  if (text[begin] != '{' || value.too_deep) {
    const size_t end = text.find(close, begin);
    if (end == begin && text.substr(begin).starts_with(close)) {  // no arguments at all
      return {.state = State::whole, .name = out.name, .arguments = "{}", .n_bytes = begin + close.size()};
    }
    if (close.starts_with(text.substr(begin)) && !is_final) return out;
    return {.state = State::none, .n_bytes = end == text.npos ? text.size() : end + close.size()};
  }
  out.arguments = text.substr(begin, value.end == text.npos ? text.npos : value.end - begin);
  if (value.end == text.npos) return out;
  out.state = Json::accept(out.arguments) ? State::whole : State::none;
  out.n_bytes = value.end;
  return closed_by(std::move(out), text, value.end, close, is_final);
}

Found read_hermes(std::string_view text, bool is_final) {
  constexpr std::string_view kOpen = "<tool_call>", kClose = "</tool_call>";
  const size_t at = skip_space(text, kOpen.size());
  if (at >= text.size()) return {};
  if (text[at] != '{') {
    const size_t end = text.find(kClose);
    if (end == text.npos && !is_final) return {};
    return {.state = State::none, .n_bytes = end == text.npos ? text.size() : end + kClose.size()};
  }
  Found out = read_object(text.substr(at));
  if (out.state == State::unfinished) return out;
  out.n_bytes += at;
  const size_t behind = out.n_bytes;
  return closed_by(std::move(out), text, behind, kClose, is_final);
}

Found read_llama3(std::string_view text, bool) {
  constexpr std::string_view kTag = "<|python_tag|>";
  const size_t at = text.starts_with(kTag)  ? skip_space(text, kTag.size())
                    : text.starts_with(';') ? skip_space(text, 1)
                                            : 0;
  if (at >= text.size()) return {};
  if (text[at] != '{') return {.state = State::none, .n_bytes = at};
  Found out = read_object(text.substr(at));
  if (out.state != State::unfinished) out.n_bytes += at;
  return out;
}

Found read_mistral(std::string_view text, bool is_final) {
  constexpr std::string_view kOpen = "[TOOL_CALLS]", kArgs = "[ARGS]", kId = "[CALL_ID]";
  const size_t at = skip_space(text, kOpen.size());
  if (at >= text.size()) return {};
  if (text[at] == '[') return {.state = State::whole, .n_bytes = at + 1, .opens_list = true};
  const size_t args = text.find(kArgs, at), brace = text.find('{', at);
  const size_t end = std::min(args, brace);
  if (end == text.npos) return is_final ? Found{.state = State::none, .n_bytes = text.size()} : Found{};
  std::string_view name = text.substr(at, end - at);
  name = name.substr(0, name.find(kId));
  while (!name.empty() && kSpace.find(name.back()) != kSpace.npos) name.remove_suffix(1);
  return named_call(std::string(name), text, args == end ? args + kArgs.size() : brace, "", is_final);
}

Found read_deepseek(std::string_view text, bool is_final) {
  constexpr std::string_view kOpen = "<｜tool▁call▁begin｜>", kSep = "<｜tool▁sep｜>", kClose = "<｜tool▁call▁end｜>",
                             kFence = "```json";
  if (!text.starts_with(kOpen)) return {.state = State::none, .n_bytes = 0};
  const size_t sep = text.find(kSep);
  if (sep == text.npos) return is_final ? Found{.state = State::none, .n_bytes = text.size()} : Found{};
  std::string name(text.substr(kOpen.size(), sep - kOpen.size()));
  size_t at = sep + kSep.size();
  if (name != "function") return named_call(std::move(name), text, at, kClose, is_final);
  const size_t line = text.find('\n', at);
  const size_t fence = text.find(kFence, at);
  if (line == text.npos || fence == text.npos)
    return is_final ? Found{.state = State::none, .n_bytes = text.size()} : Found{};
  name = text.substr(at, line - at);
  Found out = named_call(std::move(name), text, fence + kFence.size(), "```", is_final);
  const size_t behind = out.n_bytes;
  return closed_by(std::move(out), text, behind, kClose, is_final);
}

// Values are JSON where they are JSON and no text of it, else text.
Found read_glm(std::string_view text, bool is_final) {
  constexpr std::string_view kOpen = "<tool_call>", kClose = "</tool_call>", kKey = "<arg_key>", kKeyEnd = "</arg_key>",
                             kValue = "<arg_value>", kValueEnd = "</arg_value>";
  const size_t close = text.find(kClose);
  const std::string_view inside = text.substr(0, close);
  const size_t name_end = inside.find_first_of("<\n", kOpen.size());
  if (name_end == inside.npos && close == text.npos)
    return is_final ? Found{.state = State::none, .n_bytes = text.size()} : Found{};
  Found out{.name = std::string(
                inside.substr(kOpen.size(), (name_end == inside.npos ? inside.size() : name_end) - kOpen.size()))};
  while (!out.name.empty() && kSpace.find(out.name.back()) != kSpace.npos) out.name.pop_back();
  std::string arguments = "{";
  bool is_bad = out.name.empty();
  for (size_t at = inside.find(kKey); at != inside.npos; at = inside.find(kKey, at)) {
    const size_t key_end = inside.find(kKeyEnd, at), value = inside.find(kValue, at), end = inside.find(kValueEnd, at);
    if (key_end == inside.npos || value == inside.npos || end == inside.npos) {
      is_bad = is_bad || close != text.npos || is_final;
      break;
    }
    const std::string key(inside.substr(at + kKey.size(), key_end - at - kKey.size()));
    const std::string raw(inside.substr(value + kValue.size(), end - value - kValue.size()));
    const bool is_json = Json::accept(raw) && !raw.starts_with('"');
    arguments +=
        (arguments.size() > 1 ? ", " : "") + Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    arguments += is_json ? raw : Json(raw).dump(-1, ' ', false, Json::error_handler_t::replace);
    at = end;
  }
  if (is_bad) return {.state = State::none, .n_bytes = close == text.npos ? text.size() : close + kClose.size()};
  out.arguments = std::move(arguments);
  if (close == text.npos) {
    if (is_final) return {.state = State::none, .n_bytes = text.size()};
    if (name_end == inside.npos) out.name.clear();
    return out;
  }
  out.arguments += "}";
  out.state = State::whole;
  out.n_bytes = close + kClose.size();
  return out;
}

// <|channel|>NAME [to=functions.X] [<|constrain|>json]<|message|>BODY, up to the next control token.
Found read_harmony(std::string_view text, bool is_final) {
  constexpr std::string_view kMessage = "<|message|>", kStart = "<|start|>";
  if (text.starts_with(kStart)) {  // a new message's header
    const size_t next = text.find("<|", kStart.size());
    if (next == text.npos && !is_final) return {};
    return {.state = State::whole, .n_bytes = std::min(next, text.size()), .is_text = true};
  }
  const size_t message = text.find(kMessage);
  if (message == text.npos) return is_final ? Found{.state = State::none, .n_bytes = text.size()} : Found{};
  const std::string_view head = text.substr(0, message);
  const size_t body = message + kMessage.size();
  size_t end = text.npos, mark_bytes = 0;
  for (const std::string_view mark : {"<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"}) {
    const size_t at = text.find(mark, body);
    if (at < end) end = at, mark_bytes = mark == "<|start|>" || mark == "<|channel|>" ? 0 : mark.size();
  }
  const size_t to = head.find("to=functions.");
  if (to != head.npos) {
    const size_t from = to + std::string_view("to=functions.").size();
    const size_t name_end = std::min(head.find_first_of(" <\n", from), head.size());
    Found out = named_call(std::string(head.substr(from, name_end - from)), text.substr(0, end), body, "",
                           is_final || end != text.npos);
    if (end != text.npos) out.n_bytes = end + mark_bytes;
    if (end != text.npos && out.state == State::unfinished) out.state = State::none;
    if (out.state == State::whole && end == text.npos && !is_final) out.state = State::unfinished;
    return out;
  }
  Found out{.is_text = true, .is_reasoning = head.find("analysis") != head.npos};
  std::string_view shown = text.substr(body, end == text.npos ? text.npos : end - body);
  if (end == text.npos && !is_final) {  // what may become a control token waits
    const size_t tail = shown.rfind('<');
    if (tail != shown.npos && shown.size() - tail < 12) shown = shown.substr(0, tail);
  }
  out.arguments = shown;
  if (end != text.npos || is_final)
    out.state = State::whole, out.n_bytes = end == text.npos ? text.size() : end + mark_bytes;
  return out;
}

// {"tool_call": {...}}, {"tool_calls": [one]}, {"name": ..., "arguments": ...}: known once whole.
Found read_generic(std::string_view text, bool) {
  const Span whole = value_at(text, 0);
  if (whole.too_deep) return {.state = State::none, .n_bytes = text.size()};
  if (whole.end == text.npos) return {};
  const std::string_view object = text.substr(0, whole.end);
  Found out{.state = State::none, .n_bytes = whole.end};
  for (const auto& [key, value] : members(object)) {
    if (key != "tool_call" || value.end == object.npos) continue;
    out = read_object(object.substr(value.begin, value.end - value.begin));
    out.n_bytes = whole.end;
    return out;
  }
  return read_object(object);
}

}  // namespace

std::vector<std::string_view> markers(Format format) {
  switch (format) {
    case Format::hermes:
    case Format::glm:
      return {"<tool_call>"};
    case Format::llama3:
      return {"<|python_tag|>"};
    case Format::mistral:
      return {"[TOOL_CALLS]"};
    case Format::harmony:
      return {"<|channel|>", "<|start|>"};
    case Format::deepseek:
      return {"<｜tool▁call▁begin｜>"};
    case Format::generic:
      return {};
  }
  return {};
}

Found read_call(Format format, std::string_view text, bool is_final) {
  switch (format) {
    case Format::hermes:
      return read_hermes(text, is_final);
    case Format::llama3:
      return read_llama3(text, is_final);
    case Format::mistral:
      return read_mistral(text, is_final);
    case Format::harmony:
      return read_harmony(text, is_final);
    case Format::deepseek:
      return read_deepseek(text, is_final);
    case Format::glm:
      return read_glm(text, is_final);
    case Format::generic:
      return read_generic(text, is_final);
  }
  return {.state = State::none, .n_bytes = text.size()};
}

Found read_list(std::string_view text, bool) {
  size_t at = skip_space(text, 0);
  if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
  if (at >= text.size()) return {};
  if (text[at] == ']') return {.state = State::none, .n_bytes = at + 1};
  if (text[at] != '{') return {.state = State::none, .n_bytes = at};
  Found out = read_object(text.substr(at));
  if (out.state != State::unfinished) out.n_bytes += at;
  return out;
}

}  // namespace ridge::tools
