// How functions make and pass on the errors of include/ridge/result.h. Programmer errors are assert(); nothing in src/
// throws across a module's face, aborts, exits or prints.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "ridge/result.h"

namespace ridge {

// return fail(ErrorCode::bad_file, "tensor '{}': offset {} is beyond the file's {} bytes", ...);
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// Puts the place in front of an error on its way up: "models/a.gguf: " + message.
tl::unexpected<Error> in_context(std::string_view place, Error error);

}  // namespace ridge

// RIDGE_TRY(name, expression): name = the value, or return the error to the caller.
// One of the few macros: the language has no way to return from the caller in an expression.
#define RIDGE_CONCAT_INNER(a, b) a##b
#define RIDGE_CONCAT(a, b) RIDGE_CONCAT_INNER(a, b)
#define RIDGE_TRY_INNER(tmp, name, ...)                                    \
  auto tmp = (__VA_ARGS__);                                                \
  if (!tmp) return tl::unexpected<::ridge::Error>(std::move(tmp.error())); \
  name = std::move(*tmp)
#define RIDGE_TRY(name, ...) RIDGE_TRY_INNER(RIDGE_CONCAT(ridge_try_, __LINE__), name, __VA_ARGS__)
#define RIDGE_CHECK_OK_INNER(tmp, ...) \
  if (auto tmp = (__VA_ARGS__); !tmp) return tl::unexpected<::ridge::Error>(std::move(tmp.error()))
#define RIDGE_CHECK_OK(...) RIDGE_CHECK_OK_INNER(RIDGE_CONCAT(ridge_ok_, __LINE__), __VA_ARGS__)
