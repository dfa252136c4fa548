// Expressions. The levels of operators are Jinja2's, which are not Python's: '~' binds tighter than '+', '**' takes its
// operands from the left, a filter binds tighter than any operator. Operands of one level become one node, so that a
// long chain is a loop for the interpreter and not a recursion.
#include "text/jinja/failure.h"
#include "text/jinja/parser.h"

namespace ridge::jinja {

namespace {

enum Level : int { kOr = 1, kAnd, kNot, kCompare, kAdd, kConcat, kMul, kPow };

Infix infix_of(const Token& token) {
  switch (token.type) {
    case Tok::add:
      return {kAdd, Op::add};
    case Tok::sub:
      return {kAdd, Op::sub};
    case Tok::tilde:
      return {kConcat};
    case Tok::mul:
      return {kMul, Op::mul};
    case Tok::div:
      return {kMul, Op::div};
    case Tok::floordiv:
      return {kMul, Op::floordiv};
    case Tok::mod:
      return {kMul, Op::mod};
    case Tok::pow:
      return {kPow, Op::pow};
    case Tok::eq:
      return {kCompare, Op::eq};
    case Tok::ne:
      return {kCompare, Op::ne};
    case Tok::lt:
      return {kCompare, Op::lt};
    case Tok::lteq:
      return {kCompare, Op::le};
    case Tok::gt:
      return {kCompare, Op::gt};
    case Tok::gteq:
      return {kCompare, Op::ge};
    case Tok::name:
      break;
    default:
      return {};
  }
  if (token.text == "or") return {kOr};
  if (token.text == "and") return {kAnd};
  if (token.text == "in") return {kCompare, Op::in};
  return {};
}

ExprKind kind_of_level(int level) {
  switch (level) {
    case kOr:
      return ExprKind::or_;
    case kAnd:
      return ExprKind::and_;
    case kCompare:
      return ExprKind::compare;
    case kConcat:
      return ExprKind::concat;
    default:
      return ExprKind::binary;
  }
}

const char* class_name(ExprKind kind) {
  switch (kind) {
    case ExprKind::constant:
      return "const";
    case ExprKind::list:
      return "list";
    case ExprKind::dict:
      return "dict";
    case ExprKind::tuple:
      return "tuple";
    default:
      return "expr";
  }
}

}  // namespace

// The operator that stands here; "not in" is the one that needs a second look.
Infix Parser::current_infix() const {
  if (is_name("not") && look().type == Tok::name && look().text == "in") return {kCompare, Op::not_in, 2};
  return infix_of(current());
}

ExprPtr Parser::make(ExprKind kind, int line) {
  count_node();
  return std::make_unique<Expr>(kind, line);
}

void Parser::adopt(Expr& parent, ExprPtr kid) {
  if (kid != nullptr) parent.depth = std::max(parent.depth, kid->depth + 1);
  if (parent.depth > kMaxTreeDepth) fail("an expression nests deeper than 400 levels", parent.line);
  parent.kids.push_back(std::move(kid));
}

ExprPtr Parser::make_with(ExprKind kind, int line, ExprPtr kid) {
  ExprPtr node = make(kind, line);
  adopt(*node, std::move(kid));
  return node;
}

ExprPtr Parser::parse_expression(bool with_conditional) {
  if (!with_conditional) return parse_operators(kOr);
  int line = current().line;
  ExprPtr then = parse_operators(kOr);
  while (skip_if_name("if")) {
    ExprPtr node = make_with(ExprKind::conditional, line, parse_operators(kOr));
    adopt(*node, std::move(then));
    if (skip_if_name("else")) {
      const Nest nest(*this);
      adopt(*node, parse_expression());
    } else {
      node->kids.push_back(nullptr);
    }
    then = std::move(node);
    line = current().line;
  }
  return then;
}

ExprPtr Parser::parse_operators(int min_level) {
  ExprPtr left;
  if (min_level <= kNot && is_name("not")) {
    const Nest nest(*this);
    const int line = next().line;
    left = make_with(ExprKind::not_, line, parse_operators(kNot));
  } else {
    left = parse_unary(true);
  }
  while (true) {
    const int level = current_infix().level;
    if (level == 0 || level < min_level) return left;
    ExprPtr node = make_with(kind_of_level(level), current().line, std::move(left));
    for (Infix infix = current_infix(); infix.level == level; infix = current_infix()) {
      for (int i = 0; i < infix.n_tokens; ++i) next();
      node->ops.push_back(infix.op);
      adopt(*node, level == kPow ? parse_unary(true) : parse_operators(level == kAnd ? kNot : level + 1));
    }
    left = std::move(node);
  }
}

ExprPtr Parser::parse_unary(bool with_filter) {
  const Nest nest(*this);
  ExprPtr node;
  if (is(Tok::sub) || is(Tok::add)) {
    const Token token = next();
    node = make_with(token.type == Tok::sub ? ExprKind::negative : ExprKind::positive, token.line, parse_unary(false));
  } else {
    node = parse_primary();
  }
  node = parse_postfix(std::move(node));
  return with_filter ? parse_filter_expr(std::move(node)) : std::move(node);
}

ExprPtr Parser::parse_primary() {
  const int line = current().line;
  if (is(Tok::lbracket)) return parse_list();
  if (is(Tok::lbrace)) return parse_dict();
  if (is(Tok::lparen)) {
    next();
    ExprPtr node = parse_tuple(false, true, true);
    expect(Tok::rparen);
    return node;
  }
  ExprPtr node = make(ExprKind::constant, line);
  if (is(Tok::name)) {
    const Token token = next();
    const std::string_view name = token.text;
    if (name == "true" || name == "True" || name == "false" || name == "False") {
      node->value = Value::boolean(name == "true" || name == "True");
    } else if (name == "none" || name == "None") {
      node->value = Value::none();
    } else {
      node = make(ExprKind::name, line);
      node->text = token.text;
    }
    return node;
  }
  if (is(Tok::string)) {
    std::string text;
    while (is(Tok::string)) text += next().text;
    node->value = Value::trusted_string(std::move(text));
  } else if (is(Tok::integer)) {
    node->value = Value::integer(next().integer);
  } else if (is(Tok::real)) {
    node->value = Value::real(next().real);
  } else {
    fail(fmt::format("unexpected '{}'", describe(current())));
  }
  return node;
}

ExprPtr Parser::parse_tuple(bool simplified, bool with_conditional, bool explicit_parentheses) {
  const int line = current().line;
  std::vector<ExprPtr> parts;
  bool is_tuple = false;
  while (true) {
    if (!parts.empty()) expect(Tok::comma);
    if (is(Tok::variable_end) || is(Tok::block_end) || is(Tok::rparen)) break;
    parts.push_back(simplified ? parse_primary() : parse_expression(with_conditional));
    if (!is(Tok::comma)) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!parts.empty()) return std::move(parts[0]);
    if (!explicit_parentheses) fail(fmt::format("Expected an expression, got '{}'", describe(current())));
  }
  ExprPtr node = make(ExprKind::tuple, line);
  for (ExprPtr& part : parts) adopt(*node, std::move(part));
  return node;
}

ExprPtr Parser::parse_assign_target(bool name_only, bool with_namespace) {
  if (with_namespace && look().type == Tok::dot) {
    const Token name = expect(Tok::name);
    next();
    ExprPtr node = make(ExprKind::namespace_target, name.line);
    node->value = Value::trusted_string(name.text);
    node->text = expect(Tok::name).text;
    return node;
  }
  if (name_only) {
    const Token name = expect(Tok::name);
    ExprPtr node = make(ExprKind::name, name.line);
    node->text = name.text;
    check_target(*node, true);
    return node;
  }
  ExprPtr node = parse_tuple(true, true, false);
  check_target(*node, true);
  return node;
}

void Parser::check_target(const Expr& target, bool is_top) {
  if (target.kind == ExprKind::name) {
    for (const std::string_view word : {"true", "false", "none", "True", "False", "None"}) {
      if (target.text == word) fail("can't assign to 'name'", target.line);
    }
    return;
  }
  if (target.kind != ExprKind::tuple) {
    fail(fmt::format("can't assign to '{}'", is_top ? class_name(target.kind) : "tuple"), target.line);
  }
  for (const ExprPtr& part : target.kids) check_target(*part, false);
}

ExprPtr Parser::parse_list() {
  ExprPtr node = make(ExprKind::list, next().line);
  while (!is(Tok::rbracket)) {
    if (!node->kids.empty()) expect(Tok::comma);
    if (is(Tok::rbracket)) break;
    adopt(*node, parse_expression());
  }
  expect(Tok::rbracket);
  return node;
}

ExprPtr Parser::parse_dict() {
  ExprPtr node = make(ExprKind::dict, next().line);
  while (!is(Tok::rbrace)) {
    if (!node->kids.empty()) expect(Tok::comma);
    if (is(Tok::rbrace)) break;
    adopt(*node, parse_expression());
    expect(Tok::colon);
    adopt(*node, parse_expression());
  }
  expect(Tok::rbrace);
  return node;
}

ExprPtr Parser::parse_postfix(ExprPtr node) {
  while (true) {
    if (is(Tok::dot) || is(Tok::lbracket)) {
      node = parse_subscript(std::move(node));
    } else if (is(Tok::lparen)) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::parse_filter_expr(ExprPtr node) {
  while (true) {
    if (is(Tok::pipe)) {
      node = parse_filter(std::move(node), false);
    } else if (is_name("is")) {
      node = parse_test(std::move(node));
    } else if (is(Tok::lparen)) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::parse_subscript(ExprPtr node) {
  const Token token = next();
  if (token.type == Tok::dot) {
    const Token attribute = next();
    if (attribute.type == Tok::name) {
      ExprPtr out = make_with(ExprKind::getattr, token.line, std::move(node));
      out->text = attribute.text;
      out->value = Value::trusted_string(attribute.text);
      return out;
    }
    if (attribute.type != Tok::integer) fail("expected name or number", attribute.line);
    ExprPtr key = make(ExprKind::constant, attribute.line);
    key->value = Value::integer(attribute.integer);
    ExprPtr out = make_with(ExprKind::getitem, token.line, std::move(node));
    adopt(*out, std::move(key));
    return out;
  }
  if (skip_if(Tok::rbracket)) {  // x[] asks for the key (), which nothing has
    ExprPtr empty = make_with(ExprKind::getitem, token.line, std::move(node));
    adopt(*empty, make(ExprKind::tuple, token.line));
    return empty;
  }
  ExprPtr out = parse_subscribed(std::move(node), token.line);
  if (skip_if(Tok::rbracket)) return out;
  if (!is(Tok::comma)) expect(Tok::comma);  // raises: what may follow is a comma
  // x[a, b] asks for the tuple (a, b).
  if (out->kind == ExprKind::slice) fail("slices cannot be parts of a key");
  ExprPtr key = make_with(ExprKind::tuple, token.line, std::move(out->kids[1]));
  while (!is(Tok::rbracket)) {
    expect(Tok::comma);
    adopt(*key, parse_expression());
  }
  expect(Tok::rbracket);
  out->kids.pop_back();
  adopt(*out, std::move(key));
  return out;
}

ExprPtr Parser::parse_subscribed(ExprPtr object, int line) {
  ExprPtr parts[3];
  if (!is(Tok::colon)) {
    parts[0] = parse_expression();
    if (!is(Tok::colon)) {
      ExprPtr out = make_with(ExprKind::getitem, line, std::move(object));
      adopt(*out, std::move(parts[0]));
      return out;
    }
  }
  next();
  if (!is(Tok::colon) && !is(Tok::rbracket) && !is(Tok::comma)) parts[1] = parse_expression();
  if (skip_if(Tok::colon) && !is(Tok::rbracket) && !is(Tok::comma)) parts[2] = parse_expression();
  ExprPtr out = make_with(ExprKind::slice, line, std::move(object));
  for (ExprPtr& part : parts) adopt(*out, std::move(part));
  return out;
}

void Parser::parse_arguments(Expr& node) {
  const int line = expect(Tok::lparen).line;
  ExprPtr star, double_star;
  std::vector<ExprPtr> named;
  bool require_comma = false;
  const auto ensure = [&](bool holds) {
    if (!holds) fail("invalid syntax for function call expression", line);
  };
  while (!is(Tok::rparen)) {
    if (require_comma) {
      expect(Tok::comma);
      if (is(Tok::rparen)) break;
    }
    if (skip_if(Tok::mul)) {
      ensure(star == nullptr && double_star == nullptr);
      star = parse_expression();
    } else if (skip_if(Tok::pow)) {
      ensure(double_star == nullptr);
      double_star = parse_expression();
    } else if (is(Tok::name) && look().type == Tok::assign) {
      ensure(double_star == nullptr);
      const std::string key = next().text;
      next();
      for (const std::string& other : node.keywords) {
        if (other == key) raise("SyntaxError", "keyword argument repeated: {}", key);
      }
      node.keywords.push_back(key);
      named.push_back(parse_expression());
    } else {
      ensure(star == nullptr && double_star == nullptr && named.empty());
      adopt(node, parse_expression());
    }
    require_comma = true;
  }
  expect(Tok::rparen);
  for (ExprPtr& value : named) adopt(node, std::move(value));
  node.has_star = star != nullptr;
  node.has_double_star = double_star != nullptr;
  if (star != nullptr) adopt(node, std::move(star));
  if (double_star != nullptr) adopt(node, std::move(double_star));
}

ExprPtr Parser::parse_call(ExprPtr callee) {
  ExprPtr node = make_with(ExprKind::call, current().line, std::move(callee));
  parse_arguments(*node);
  return node;
}

ExprPtr Parser::parse_filter(ExprPtr node, bool start_inline) {
  while (is(Tok::pipe) || start_inline) {
    if (!start_inline) next();
    const Token token = expect(Tok::name);
    std::string name = token.text;
    while (skip_if(Tok::dot)) name.append(1, '.').append(expect(Tok::name).text);
    node = make_with(ExprKind::filter, token.line, std::move(node));
    node->text = name;
    if (is(Tok::lparen)) parse_arguments(*node);
    start_inline = false;
  }
  return node;
}

ExprPtr Parser::parse_test(ExprPtr subject) {
  const int line = next().line;
  const bool negated = skip_if_name("not");
  ExprPtr node = make_with(ExprKind::test, line, std::move(subject));
  node->text = expect(Tok::name).text;
  while (skip_if(Tok::dot)) node->text.append(1, '.').append(expect(Tok::name).text);
  if (is(Tok::lparen)) {
    parse_arguments(*node);
  } else if ((is(Tok::name) && !is_name("else") && !is_name("or") && !is_name("and")) || is(Tok::string) ||
             is(Tok::integer) || is(Tok::real) || is(Tok::lbracket) || is(Tok::lbrace)) {
    if (is_name("is")) fail("You cannot chain multiple tests with is");
    adopt(*node, parse_postfix(parse_primary()));
  }
  return negated ? make_with(ExprKind::not_, line, std::move(node)) : std::move(node);
}

}  // namespace ridge::jinja
