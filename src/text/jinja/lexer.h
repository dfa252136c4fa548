// Template text to tokens, with Jinja2's rules for white space: trim_blocks and lstrip_blocks on, one trailing newline
// dropped,
// '-' and '+' beside the tags. Linear in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::jinja {

enum class Tok : uint8_t {
  unreadable,  // text holds the message; nothing follows but the end
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  real,
  end,
  add,
  sub,
  div,
  floordiv,
  mul,
  mod,
  pow,
  tilde,
  lbracket,
  rbracket,
  lparen,
  rparen,
  lbrace,
  rbrace,
  eq,
  ne,
  gt,
  gteq,
  lt,
  lteq,
  assign,
  dot,
  colon,
  pipe,
  comma,
  semicolon,
};

struct Token {
  Tok type = Tok::end;
  int line = 1;
  std::string text;  // data, name, string
  int64_t integer = 0;
  double real = 0;
};

inline constexpr size_t kMaxTemplateBytes = 2u << 20;

// The result ends with Tok::end; text that is no token becomes Tok::unreadable. Throws Failure for what is no template
// at all (not UTF-8, too long).
std::vector<Token> tokenize(std::string_view source);

// As Jinja2's messages call them: "end of print statement", "+", or a name itself.
std::string describe(Tok type);
std::string describe(const Token& token);

}  // namespace ridge::jinja
