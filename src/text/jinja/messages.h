// What is put right in a conversation before any template sees it.
#pragma once

#include "text/jinja/value.h"

namespace ridge::jinja {

// messages without the key tool_calls wherever that is an empty list: clients send it back, and templates that only ask
// whether the key is there would fail on a turn that calls nothing.
Value drop_empty_tool_calls(const Value& messages);

}  // namespace ridge::jinja
