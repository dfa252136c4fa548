// The small endpoints of llama-server around a model: /tokenize, /detokenize, /apply-template.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/engine.h"

namespace ridge::api {

struct TokenizeRequest {
  std::string content;
  bool add_special = false, parse_special = true, with_pieces = false;
};
// Errors, of all: invalid_argument.
Result<TokenizeRequest> parse_tokenize(std::string_view body);
// pieces: the bytes of each token, or empty for the plain form.
std::string render_tokens(std::span<const int32_t> ids, std::span<const std::string> pieces);

Result<std::vector<int32_t>> parse_detokenize(std::string_view body);
std::string render_content(std::string_view text);

struct TemplateRequest {
  std::vector<Message> messages;
  ChatOptions options;
};
Result<TemplateRequest> parse_apply_template(std::string_view body);
std::string render_prompt(std::string_view text);

}  // namespace ridge::api
