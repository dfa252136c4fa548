#include "base/result.h"

namespace ridge {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::io:
      return "io";
    case ErrorCode::bad_file:
      return "bad_file";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::limit:
      return "limit";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::context_exceeded:
      return "context_exceeded";
    case ErrorCode::template_error:
      return "template_error";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::device:
      return "device";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

tl::unexpected<Error> in_context(std::string_view place, Error error) {
  error.message = fmt::format("{}: {}", place, error.message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace ridge
