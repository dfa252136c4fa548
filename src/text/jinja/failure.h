// How the template engine gives up, inside its own folder: an exception that names Jinja2's type of error, its words
// and the template line. It never leaves the folder: chat_template.cc turns it into an Error. An interpreter is one
// deep recursion, and a Result at each of its two hundred steps would bury the language's rules under error plumbing.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace ridge::jinja {

struct Failure {
  std::string type;     // the Python exception that Jinja2 would raise: "TypeError", "UndefinedError", ...
  std::string message;  // its text
  int line = 0;         // 1-based template line; 0 until the statement that failed is known
  ErrorCode code = ErrorCode::template_error;
};

template <class... Args>
[[noreturn]] void raise(const char* type, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{type, fmt::format(format, std::forward<Args>(args)...), 0, ErrorCode::template_error};
}

// One of the engine's own limits was passed; Python has no such error.
template <class... Args>
[[noreturn]] void raise_limit(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{"LimitError", fmt::format(format, std::forward<Args>(args)...), 0, ErrorCode::template_error};
}

}  // namespace ridge::jinja
