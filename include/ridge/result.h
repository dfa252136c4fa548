// Result<T>: how everything in Ridge reports what may go wrong. No exception leaves the library; nothing in it aborts,
// exits or prints. Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ridge {

enum class ErrorCode : uint8_t {
  invalid_argument,  // a value the caller gave is out of its range or makes no sense
  not_found,         // a file, key, tensor or name that does not exist
  io,                // the operating system refused to read or write
  bad_file,          // bytes that break the rules of their format
  unsupported,       // well-formed, known, and not something this build can do
  limit,             // one of the program's own limits (size, depth, steps) was passed
  out_of_memory,     // an allocation failed or would not fit
  context_exceeded,  // more tokens than the context holds
  template_error,    // a chat template failed; the message carries its line
  cancelled,         // the caller asked to stop
  device,            // a compute device failed
  internal,          // an invariant that the program itself broke
};

std::string_view to_string(ErrorCode code);

// One sentence that says what was found, what was expected and what to do.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace ridge
