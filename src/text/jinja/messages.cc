// See messages.h.
#include "text/jinja/messages.h"

#include <algorithm>

namespace ridge::jinja {

namespace {

bool is_empty_calls(const std::pair<Value, Value>& entry) {
  return entry.first.is_string() && entry.first.bytes() == "tool_calls" && entry.second.is(Kind::list) &&
         entry.second.items().empty();
}

}  // namespace

Value drop_empty_tool_calls(const Value& messages) {
  if (!messages.is(Kind::list)) return messages;
  std::vector<Value> out;
  bool changed = false;
  for (const Value& message : messages.items()) {
    if (!message.is(Kind::dict) ||
        std::none_of(message.as_dict().entries.begin(), message.as_dict().entries.end(), is_empty_calls)) {
      out.push_back(message);
      continue;
    }
    auto entries = message.as_dict().entries;
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_empty_calls), entries.end());
    out.push_back(Value::dict(std::move(entries)));
    changed = true;
  }
  return changed ? Value::list(std::move(out)) : messages;
}

}  // namespace ridge::jinja
