// Statements. The messages are Jinja2's.
#include "text/jinja/parser.h"

#include "text/jinja/failure.h"

namespace ridge::jinja {

Token Parser::next() {
  if (at_ + 1 == tokens_.size()) return tokens_[at_];  // the end stays
  Token token = std::move(tokens_[at_++]);
  check_readable(tokens_[at_]);
  return token;
}

// What could not be read is an error only when the parser gets there: an earlier mistake is the one to be told.
void Parser::check_readable(const Token& token) {
  if (token.type == Tok::unreadable) {
    throw Failure{"TemplateSyntaxError", token.text, token.line, ErrorCode::template_error};
  }
}

const Token& Parser::look() const {
  const Token& token = tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_];
  check_readable(token);
  return token;
}

bool Parser::skip_if(Tok type) {
  if (!is(type)) return false;
  next();
  return true;
}

bool Parser::skip_if_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

Token Parser::expect(Tok type) {
  if (is(type)) return next();
  if (is(Tok::end)) fail(fmt::format("unexpected end of template, expected '{}'.", describe(type)));
  fail(fmt::format("expected token '{}', got '{}'", describe(type), describe(current())));
}

Token Parser::expect_name(std::string_view name) {
  if (is_name(name)) return next();
  if (is(Tok::end)) fail(fmt::format("unexpected end of template, expected '{}'.", name));
  fail(fmt::format("expected token '{}', got '{}'", name, describe(current())));
}

void Parser::fail(std::string message, int line) const {
  throw Failure{"TemplateSyntaxError", std::move(message), line != 0 ? line : current().line,
                ErrorCode::template_error};
}

void Parser::count_node() {
  if (++n_nodes_ > kMaxNodes) raise_limit("a template of more than {} nodes", kMaxNodes);
}

std::unique_ptr<Statement> Parser::make_statement(StmtKind kind, int line) {
  count_node();
  return std::make_unique<Statement>(kind, line);
}

Body Parser::parse() {
  check_readable(current());
  return subparse(nullptr);
}

Body Parser::subparse(const EndTags* end_tags) {
  const Nest nest(*this);
  Body body;
  if (end_tags != nullptr) end_stack_.push_back(end_tags);
  while (!is(Tok::end)) {
    const Token token = next();
    if (token.type == Tok::data) {
      auto data = make_statement(StmtKind::data, token.line);
      data->data = MarkedText(token.text);
      body.push_back(std::move(data));
    } else if (token.type == Tok::variable_begin) {
      auto output = make_statement(StmtKind::output, current().line);
      output->exprs.push_back(parse_tuple(false, true, false));
      expect(Tok::variable_end);
      body.push_back(std::move(output));
    } else {
      if (end_tags != nullptr && is(Tok::name)) {
        for (const std::string_view tag : *end_tags) {
          if (current().text != tag) continue;
          end_stack_.pop_back();
          return body;
        }
      }
      body.push_back(parse_statement());
      expect(Tok::block_end);
    }
  }
  if (end_tags != nullptr) end_stack_.pop_back();
  return body;
}

Body Parser::parse_statements(const EndTags& end_tags, bool drop_needle) {
  skip_if(Tok::colon);
  expect(Tok::block_end);
  Body body = subparse(&end_tags);
  if (is(Tok::end)) {
    end_stack_.push_back(&end_tags);
    fail_end(nullptr, current().line);
  }
  if (drop_needle) next();
  return body;
}

void Parser::fail_end(const std::string* name, int line) {
  std::string message =
      name == nullptr ? "Unexpected end of template." : fmt::format("Encountered unknown tag '{}'.", *name);
  if (!end_stack_.empty()) {
    std::string looking;
    for (const std::string_view tag : *end_stack_.back())
      looking += fmt::format("{}'{}'", looking.empty() ? "" : " or ", tag);
    bool nested = false;
    for (const EndTags* tags : end_stack_) {
      for (const std::string_view tag : *tags) nested |= name != nullptr && tag == *name;
    }
    if (nested) {
      message += " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " +
                 looking + ".";
    } else {
      message += " Jinja was looking for the following tags: " + looking + ".";
    }
  }
  if (!tag_stack_.empty()) {
    message += fmt::format(" The innermost block that needs to be closed is '{}'.", tag_stack_.back());
  }
  fail(message, line);
}

std::unique_ptr<Statement> Parser::parse_statement() {
  if (!is(Tok::name)) fail("tag name expected");
  const std::string tag = current().text;
  const int line = current().line;
  using Rule = std::unique_ptr<Statement> (Parser::*)();
  static constexpr std::pair<std::string_view, Rule> kRules[] = {
      {"for", &Parser::parse_for},     {"if", &Parser::parse_if},
      {"set", &Parser::parse_set},     {"macro", &Parser::parse_macro},
      {"with", &Parser::parse_with},   {"call", &Parser::parse_call_block},
      {"print", &Parser::parse_print}, {"filter", &Parser::parse_filter_block},
      {"block", &Parser::parse_block},
  };
  for (const auto& [name, rule] : kRules) {
    if (tag != name) continue;
    tag_stack_.push_back(tag);
    auto statement = (this->*rule)();
    tag_stack_.pop_back();
    return statement;
  }
  if (tag == "generation") {
    tag_stack_.push_back(tag);
    next();
    auto node = make_statement(StmtKind::generation, line);
    static const EndTags kEnd = {"endgeneration"};
    node->body = parse_statements(kEnd, true);
    tag_stack_.pop_back();
    return node;
  }
  if (tag == "break" || tag == "continue") {
    next();
    return make_statement(tag == "break" ? StmtKind::break_ : StmtKind::continue_, line);
  }
  for (const std::string_view refused : {"include", "import", "from", "extends", "autoescape"}) {
    if (tag == refused) fail(fmt::format("the tag '{}' is not supported: a chat template stands alone", tag));
  }
  fail_end(&tag, line);
}

std::unique_ptr<Statement> Parser::parse_set() {
  const int line = next().line;
  ExprPtr target = parse_assign_target(false, true);
  if (skip_if(Tok::assign)) {
    auto node = make_statement(StmtKind::set, line);
    node->targets.push_back(std::move(target));
    node->expr = parse_tuple(false, true, false);
    return node;
  }
  auto node = make_statement(StmtKind::set_block, line);
  node->targets.push_back(std::move(target));
  node->expr = parse_filter(nullptr, false);
  static const EndTags kEnd = {"endset"};
  node->body = parse_statements(kEnd, true);
  return node;
}

std::unique_ptr<Statement> Parser::parse_for() {
  auto node = make_statement(StmtKind::for_, next().line);
  node->targets.push_back(parse_assign_target(false, false));
  expect_name("in");
  node->expr = parse_tuple(false, false, false);
  if (skip_if_name("if")) node->test = parse_expression();
  node->recursive = skip_if_name("recursive");
  static const EndTags kBody = {"endfor", "else"}, kElse = {"endfor"};
  node->body = parse_statements(kBody, false);
  if (next().text != "endfor") node->else_body = parse_statements(kElse, true);
  return node;
}

std::unique_ptr<Statement> Parser::parse_if() {
  auto node = make_statement(StmtKind::if_, next().line);
  static const EndTags kBody = {"elif", "else", "endif"}, kElse = {"endif"};
  while (true) {
    Branch& branch = node->branches.emplace_back();
    branch.test = parse_tuple(false, false, false);
    branch.body = parse_statements(kBody, false);
    const Token token = next();
    if (token.text == "elif") continue;
    if (token.text == "else") node->branches.push_back({nullptr, parse_statements(kElse, true)});
    return node;
  }
}

std::unique_ptr<Statement> Parser::parse_with() {
  auto node = make_statement(StmtKind::with, next().line);
  while (!is(Tok::block_end)) {
    if (!node->targets.empty()) expect(Tok::comma);
    node->targets.push_back(parse_assign_target(false, false));
    expect(Tok::assign);
    node->exprs.push_back(parse_expression());
  }
  static const EndTags kEnd = {"endwith"};
  node->body = parse_statements(kEnd, true);
  return node;
}

void Parser::parse_signature(Statement& node) {
  expect(Tok::lparen);
  while (!is(Tok::rparen)) {
    if (!node.targets.empty()) expect(Tok::comma);
    ExprPtr parameter = parse_assign_target(true, false);
    if (skip_if(Tok::assign)) {
      node.exprs.push_back(parse_expression());
    } else if (!node.exprs.empty()) {
      fail("non-default argument follows default argument");
    }
    for (const ExprPtr& other : node.targets) {
      if (other->text == parameter->text)
        raise("SyntaxError", "duplicate argument '{}' in function definition", other->text);
    }
    node.explicit_caller |= parameter->text == "caller";
    node.targets.push_back(std::move(parameter));
  }
  expect(Tok::rparen);
}

std::unique_ptr<Statement> Parser::parse_macro() {
  auto node = make_statement(StmtKind::macro, next().line);
  node->name = parse_assign_target(true, false)->text;
  parse_signature(*node);
  static const EndTags kEnd = {"endmacro"};
  node->body = parse_statements(kEnd, true);
  return node;
}

std::unique_ptr<Statement> Parser::parse_call_block() {
  auto node = make_statement(StmtKind::call_block, next().line);
  if (is(Tok::lparen)) parse_signature(*node);
  node->expr = parse_expression();
  if (node->expr->kind != ExprKind::call) fail("expected call", node->line);
  static const EndTags kEnd = {"endcall"};
  node->body = parse_statements(kEnd, true);
  return node;
}

std::unique_ptr<Statement> Parser::parse_filter_block() {
  auto node = make_statement(StmtKind::filter_block, next().line);
  node->expr = parse_filter(nullptr, true);
  static const EndTags kEnd = {"endfilter"};
  node->body = parse_statements(kEnd, true);
  return node;
}

// Without inheritance a block is rendered where it stands.
std::unique_ptr<Statement> Parser::parse_block() {
  auto node = make_statement(StmtKind::block, next().line);
  node->name = expect(Tok::name).text;
  skip_if_name("scoped");
  skip_if_name("required");
  static const EndTags kEnd = {"endblock"};
  node->body = parse_statements(kEnd, true);
  skip_if_name(node->name);
  return node;
}

std::unique_ptr<Statement> Parser::parse_print() {
  auto node = make_statement(StmtKind::output, next().line);
  while (!is(Tok::block_end)) {
    if (!node->exprs.empty()) expect(Tok::comma);
    node->exprs.push_back(parse_expression());
  }
  return node;
}

}  // namespace ridge::jinja
