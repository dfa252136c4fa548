// Result<T>: how everything in Ridge reports what may go wrong with input, files, devices and memory.
// Programmer errors are assert(); nothing in src/ throws across a module's face, aborts, exits or prints.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace ridge {

enum class ErrorCode : uint8_t {
  invalid_argument,   // a value the caller gave is out of its range or makes no sense
  not_found,          // a file, key, tensor or name that does not exist
  io,                 // the operating system refused to read or write
  bad_file,           // bytes that break the rules of their format
  unsupported,        // well-formed, known, and not something this build can do
  limit,              // one of the program's own limits (size, depth, steps) was passed
  out_of_memory,      // an allocation failed or would not fit
  context_exceeded,   // more tokens than the context holds
  template_error,     // a chat template failed; the message carries its line
  cancelled,          // the caller asked to stop
  device,             // a compute device failed
  internal,           // an invariant that the program itself broke
};

std::string_view to_string(ErrorCode code);

// One sentence that says what was found, what was expected and what to do.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

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
#define RIDGE_TRY_INNER(tmp, name, ...)                            \
  auto tmp = (__VA_ARGS__);                                        \
  if (!tmp) return tl::unexpected<::ridge::Error>(std::move(tmp.error())); \
  name = std::move(*tmp)
#define RIDGE_TRY(name, ...) RIDGE_TRY_INNER(RIDGE_CONCAT(ridge_try_, __LINE__), name, __VA_ARGS__)
#define RIDGE_CHECK_OK_INNER(tmp, ...) \
  if (auto tmp = (__VA_ARGS__); !tmp) return tl::unexpected<::ridge::Error>(std::move(tmp.error()))
#define RIDGE_CHECK_OK(...) RIDGE_CHECK_OK_INNER(RIDGE_CONCAT(ridge_ok_, __LINE__), __VA_ARGS__)
