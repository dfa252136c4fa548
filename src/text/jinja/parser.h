// Tokens to a syntax tree, with Jinja2's grammar and messages. Nesting is limited: no template can exhaust the stack
// here or in the interpreter that walks the tree.
#pragma once

#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace ridge::jinja {

inline constexpr uint32_t kMaxNesting = 200;    // of brackets, operators and blocks inside each other
inline constexpr uint32_t kMaxTreeDepth = 400;  // of one expression: chains of filters and attributes count too
inline constexpr size_t kMaxNodes = 400'000;

// A binary operator as it stands in the text; level 0: none.
struct Infix {
  int level = 0;
  Op op = Op::add;
  int n_tokens = 1;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Body parse();  // throws Failure

 private:
  struct Nest;
  using EndTags = std::vector<std::string_view>;

  // parser.cc: statements
  Body subparse(const EndTags* end_tags);
  Body parse_statements(const EndTags& end_tags, bool drop_needle);
  std::unique_ptr<Statement> parse_statement();
  std::unique_ptr<Statement> parse_set();
  std::unique_ptr<Statement> parse_for();
  std::unique_ptr<Statement> parse_if();
  std::unique_ptr<Statement> parse_with();
  std::unique_ptr<Statement> parse_macro();
  std::unique_ptr<Statement> parse_call_block();
  std::unique_ptr<Statement> parse_filter_block();
  std::unique_ptr<Statement> parse_block();
  std::unique_ptr<Statement> parse_print();
  void parse_signature(Statement& node);
  [[noreturn]] void fail_end(const std::string* name, int line);

  // parser_expr.cc: expressions
  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_tuple(bool simplified, bool with_conditional, bool explicit_parentheses);
  ExprPtr parse_assign_target(bool name_only, bool with_namespace);
  ExprPtr parse_operators(int min_level);
  Infix current_infix() const;
  ExprPtr parse_unary(bool with_filter);
  ExprPtr parse_primary();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr node);
  ExprPtr parse_filter_expr(ExprPtr node);
  ExprPtr parse_subscript(ExprPtr node);
  ExprPtr parse_subscribed(ExprPtr object, int line);
  ExprPtr parse_call(ExprPtr callee);
  ExprPtr parse_filter(ExprPtr node, bool start_inline);
  ExprPtr parse_test(ExprPtr node);
  void parse_arguments(Expr& node);
  void check_target(const Expr& target, bool is_top);

  // The token stream.
  const Token& current() const { return tokens_[at_]; }
  const Token& look() const;
  static void check_readable(const Token& token);
  Token next();
  bool is(Tok type) const { return current().type == type; }
  bool is_name(std::string_view name) const { return is(Tok::name) && current().text == name; }
  bool skip_if(Tok type);
  bool skip_if_name(std::string_view name);
  Token expect(Tok type);
  Token expect_name(std::string_view name);
  [[noreturn]] void fail(std::string message, int line = 0) const;
  ExprPtr make(ExprKind kind, int line);
  void adopt(Expr& parent, ExprPtr kid);
  ExprPtr make_with(ExprKind kind, int line, ExprPtr kid);
  std::unique_ptr<Statement> make_statement(StmtKind kind, int line);
  void count_node();

  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t nesting_ = 0;
  size_t n_nodes_ = 0;
  std::vector<std::string> tag_stack_;
  std::vector<const EndTags*> end_stack_;
};

// Counts one level of nesting for as long as it lives.
struct Parser::Nest {
  explicit Nest(Parser& p) : parser(p) {
    if (++parser.nesting_ > kMaxNesting) {
      --parser.nesting_;
      parser.fail("the template nests deeper than 200 levels");
    }
  }
  ~Nest() { --parser.nesting_; }
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;
  Parser& parser;
};

}  // namespace ridge::jinja
