// Errors as clients of the OpenAI interface and of llama-server read them, and the HTTP status that goes with each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ridge/result.h"

namespace ridge::api {

// What a door answers instead of a result.
struct Refusal {
  int status = 500;
  std::string message = {};
  std::string param = {};        // the field at fault; "" = none
  int64_t n_prompt_tokens = -1;  // with n_ctx: of a prompt that is too long
  int64_t n_ctx = -1;
};

// 400 for what the request says, 429 for a full queue, 500 for the rest. `param` is the name in quotes that the message
// begins with.
Refusal refusal_of(const Error& error);

// {"error":{"code":400,"message":...,"type":"invalid_request_error","param":...}}
std::string render_error(const Refusal& refusal);
// Anthropic's: {"type":"error","error":{"type":"invalid_request_error","message":...}}
std::string render_error_anthropic(const Refusal& refusal);

}  // namespace ridge::api
