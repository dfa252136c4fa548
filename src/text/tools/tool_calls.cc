#include "text/tools/tool_calls.h"

#include <algorithm>

#include "base/rng.h"
#include "text/tools/call_formats.h"

namespace ridge::tools {
namespace {

constexpr std::string_view kThink = "<think>", kThinkEnd = "</think>";

// The longest end of `text` that may be the beginning of `mark`.
size_t n_begun(std::string_view text, std::string_view mark) {
  for (size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == mark.substr(0, n)) return n;
  }
  return 0;
}

std::string id_of(uint64_t seed, int index) {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string id;
  for (uint64_t i = 0; i < 9; ++i) id += kLetters[random_bits(seed, static_cast<uint64_t>(index), i) % kLetters.size()];
  return id;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string_view to_string(Format format) {
  static constexpr std::string_view kNames[] = {"generic", "hermes", "llama3", "mistral", "harmony", "deepseek", "glm"};
  return kNames[static_cast<size_t>(format)];
}

// The first row that fits: later ones are more general.
Format find_format(std::string_view chat_template) {
  const auto has = [chat_template](std::string_view text) { return chat_template.find(text) != chat_template.npos; };
  if (has("<|channel|>")) return Format::harmony;
  if (has("<｜tool▁call▁begin｜>")) return Format::deepseek;
  if (has("[TOOL_CALLS]")) return Format::mistral;
  if (has("<arg_key>")) return Format::glm;
  if (has("<tool_call>")) return Format::hermes;
  if (has("<|python_tag|>") || (has("<|start_header_id|>") && has("parameters"))) return Format::llama3;
  return Format::generic;
}

bool thinks(std::string_view chat_template) {
  return chat_template.find(kThink) != chat_template.npos || chat_template.find(kThinkEnd) != chat_template.npos;
}

Parser::Parser(ParserOptions options) : options_(options) {
  if (options_.starts_in_thought) mode_ = Mode::thought;
}

std::vector<Delta> Parser::push(std::string_view text) {
  rest_ += text;
  while (advance(false)) {
  }
  return std::move(out_);
}

std::vector<Delta> Parser::finish() {
  while (advance(true)) {
  }
  return std::move(out_);
}

// True when there may be more to do.
bool Parser::advance(bool is_final) {
  switch (mode_) {
    case Mode::text:
      return advance_text(is_final);
    case Mode::thought:
      return advance_thought(is_final);
    case Mode::call:
    case Mode::list:
      return advance_call(is_final);
  }
  return false;
}

void Parser::emit(Delta::Kind kind, std::string_view text) {
  if (text.empty()) return;
  if (kind == Delta::Kind::content && std::all_of(text.begin(), text.end(), is_space) && is_start_) return;
  if (kind == Delta::Kind::content) is_start_ = false;
  if (!out_.empty() && out_.back().kind == kind && kind <= Delta::Kind::reasoning) {
    out_.back().text += text;
  } else {
    out_.push_back({.kind = kind, .text = std::string(text), .index = -1, .id = {}, .name = {}});
  }
}

bool Parser::advance_text(bool is_final) {
  if (rest_.empty()) return false;
  std::vector<std::string_view> marks = markers(options_.format);
  if (options_.thinks) marks.push_back(kThink);
  // These two may write a call without any marker, as the whole answer.
  const bool bare = options_.format == Format::generic || options_.format == Format::llama3;
  if (bare && is_start_) {
    const size_t first = static_cast<size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_space) - rest_.begin());
    if (first == rest_.size()) {
      if (is_final) rest_.clear();
      return false;
    }
    if (rest_[first] == '{' || (rest_[first] == ';' && n_calls_ > 0)) {
      rest_.erase(0, first);
      mode_ = Mode::call;
      return true;
    }
  }
  size_t at = rest_.npos, held = 0;
  std::string_view mark;
  for (const std::string_view m : marks) {
    if (const size_t found = rest_.find(m); found < at) at = found, mark = m;
    held = std::max(held, n_begun(rest_, m));
  }
  const bool found = at != rest_.npos;
  const size_t n_text = found ? at : is_final ? rest_.size() : rest_.size() - held;
  emit(Delta::Kind::content, std::string_view(rest_).substr(0, n_text));
  rest_.erase(0, n_text);
  if (!found) return false;
  if (mark == kThink) {
    rest_.erase(0, mark.size());
    mode_ = Mode::thought;
  } else {
    mode_ = Mode::call;
  }
  return true;
}

bool Parser::advance_thought(bool is_final) {
  const size_t at = rest_.find(kThinkEnd);
  const size_t n = at != rest_.npos ? at : is_final ? rest_.size() : rest_.size() - n_begun(rest_, kThinkEnd);
  emit(Delta::Kind::reasoning, std::string_view(rest_).substr(0, n));
  rest_.erase(0, n);
  if (at == rest_.npos || n != at) return false;
  rest_.erase(0, kThinkEnd.size());
  mode_ = Mode::text;
  return true;
}

// What is new of the call at work.
void Parser::give(std::string_view name, std::string_view arguments) {
  if (name.empty()) return;
  if (!begun_) {
    begun_ = true;
    out_.push_back({.kind = Delta::Kind::call,
                    .text = {},
                    .index = index_,
                    .id = id_of(options_.id_seed, index_),
                    .name = std::string(name)});
  }
  if (arguments.size() <= n_given_) return;
  out_.push_back({.kind = Delta::Kind::arguments,
                  .text = std::string(arguments.substr(n_given_)),
                  .index = index_,
                  .id = {},
                  .name = {}});
  n_given_ = arguments.size();
}

bool Parser::advance_call(bool is_final) {
  if (rest_.empty()) {
    mode_ = is_final ? Mode::text : mode_;
    return false;
  }
  const bool in_list = mode_ == Mode::list;
  const Found found = in_list ? read_list(rest_, is_final) : read_call(options_.format, rest_, is_final);
  if (found.is_text) {
    const Delta::Kind kind = found.is_reasoning ? Delta::Kind::reasoning : Delta::Kind::content;
    if (found.arguments.size() > n_given_) emit(kind, std::string_view(found.arguments).substr(n_given_));
    n_given_ = found.arguments.size();
    if (found.state == Found::State::unfinished) return false;
    n_given_ = 0;
    rest_.erase(0, found.n_bytes);
    mode_ = Mode::text;
    return !rest_.empty();
  }
  if (found.state == Found::State::unfinished && !is_final) {
    give(found.name, found.arguments);
    return false;
  }
  const bool is_whole = found.state == Found::State::whole;
  const size_t n = found.state == Found::State::unfinished ? rest_.size() : found.n_bytes;
  mode_ = found.opens_list || in_list ? Mode::list : Mode::text;
  if (is_whole && !found.opens_list) {
    give(found.name, found.arguments);
    out_.push_back({.kind = Delta::Kind::call_end, .text = {}, .index = index_, .id = {}, .name = {}});
    ++n_calls_;
  } else if (!is_whole) {
    const bool ends_list = in_list && !begun_ && n <= 1;
    mode_ = Mode::text;
    // At least a byte is taken, so that this ends; what a marker began and nothing followed is text.
    const size_t n_raw = std::max<size_t>(n, ends_list ? n : 1);
    const std::string raw = rest_.substr(0, n_raw);
    if (!ends_list)
      out_.push_back({.kind = Delta::Kind::broken, .text = raw, .index = begun_ ? index_ : -1, .id = {}, .name = {}});
    if (!ends_list) is_start_ = false;
    rest_.erase(0, std::max<size_t>(n_raw, 1));
  }
  if (is_whole) rest_.erase(0, n);
  if ((is_whole && !found.opens_list) || begun_) ++index_;
  begun_ = false, n_given_ = 0;
  return !rest_.empty();
}

}  // namespace ridge::tools
