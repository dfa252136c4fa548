#include "api/native/tools.h"

#include "api/fields.h"
#include "api/messages.h"
#include "base/utf8.h"

namespace ridge::api {

Result<TokenizeRequest> parse_tokenize(std::string_view body) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  TokenizeRequest r;
  if (f.value("content") == nullptr) f.error("content", "is missing, expected a text");
  f.text("content", r.content);
  f.boolean("add_special", r.add_special);
  f.boolean("parse_special", r.parse_special);
  f.boolean("with_pieces", r.with_pieces);
  RIDGE_CHECK_OK(f.done());
  return r;
}

std::string render_tokens(std::span<const int32_t> ids, std::span<const std::string> pieces) {
  Json tokens = Json::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (pieces.empty()) {
      tokens.push_back(ids[i]);
      continue;
    }
    Json piece = pieces[i];
    if (!utf8_is_valid(pieces[i])) {  // a part of a character: its bytes as numbers
      piece = Json::array();
      for (const char c : pieces[i]) piece.push_back(static_cast<unsigned char>(c));
    }
    tokens.push_back({{"id", ids[i]}, {"piece", std::move(piece)}});
  }
  return dump(Json{{"tokens", std::move(tokens)}});
}

Result<std::vector<int32_t>> parse_detokenize(std::string_view body) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  std::vector<int32_t> ids;
  if (!f.tokens("tokens", ids)) f.error("tokens", "is missing, expected an array of token ids");
  RIDGE_CHECK_OK(f.done());
  return ids;
}

std::string render_content(std::string_view text) {
  return dump(Json{{"content", text}});
}

Result<TemplateRequest> parse_apply_template(std::string_view body) {
  RIDGE_TRY(const Json json, parse_json_object(body));
  Fields f(json);
  TemplateRequest r;
  read_messages(f, r.messages);
  read_chat_options(f, r.options);
  f.refuse("tools", "this field is known and not supported yet: leave it out");
  RIDGE_CHECK_OK(f.done());
  return r;
}

std::string render_prompt(std::string_view text) {
  return dump(Json{{"prompt", text}});
}

}  // namespace ridge::api
