// Expressions. Each kind has its own function: the recursion's stack frame stays small.
#include "text/jinja/interpreter.h"

namespace ridge::jinja {

Value Interpreter::eval(const Expr& e, Frame& frame) {
  budget.charge(1);
  switch (e.kind) {
    case ExprKind::constant:
      return e.value;
    case ExprKind::name:
      return eval_name(e, frame);
    case ExprKind::list:
    case ExprKind::tuple:
      return eval_items(e, frame);
    case ExprKind::dict:
      return eval_dict(e, frame);
    case ExprKind::getattr: {
      const Value object = eval(*e.kids[0], frame);
      line_ = e.line;
      return getattr(object, e.value);
    }
    case ExprKind::getitem: {
      const Value object = eval(*e.kids[0], frame);
      const Value key = eval(*e.kids[1], frame);
      line_ = e.line;
      return getitem(object, key);
    }
    case ExprKind::slice:
      return eval_slice(e, frame);
    case ExprKind::call:
      return eval_call(e, frame);
    case ExprKind::filter:
      return eval_filter(e, frame, nullptr);
    case ExprKind::test:
      return eval_test(e, frame);
    case ExprKind::not_:
      return Value::boolean(!truthy(eval(*e.kids[0], frame)));
    case ExprKind::negative:
    case ExprKind::positive: {
      const Value v = eval(*e.kids[0], frame);
      line_ = e.line;
      return negate(v, e.kind == ExprKind::negative);
    }
    case ExprKind::binary:
      return eval_binary(e, frame);
    case ExprKind::and_:
    case ExprKind::or_:
      return eval_logic(e, frame);
    case ExprKind::compare:
      return eval_compare(e, frame);
    case ExprKind::concat:
      return eval_concat(e, frame);
    case ExprKind::conditional:
      return eval_conditional(e, frame);
    case ExprKind::namespace_target:
      break;
  }
  return Value::none();
}

Value Interpreter::eval_name(const Expr& e, Frame& frame) {
  const Frame* home = &frame;
  while (home->info->level > e.slot.level) home = home->parent.get();
  const Value& value = home->slots[e.slot.slot];
  return value.is_missing() ? make_undefined(e.text) : value;
}

Value Interpreter::eval_items(const Expr& e, Frame& frame) {
  budget.check_stack();
  budget.charge(8);
  std::vector<Value> items;
  items.reserve(e.kids.size());
  for (const ExprPtr& kid : e.kids) items.push_back(eval(*kid, frame));
  return e.kind == ExprKind::list ? new_list(std::move(items)) : new_tuple(std::move(items));
}

Value Interpreter::eval_dict(const Expr& e, Frame& frame) {
  budget.check_stack();
  budget.charge(8);
  std::vector<std::pair<Value, Value>> entries;
  entries.reserve(e.kids.size() / 2);
  for (size_t i = 0; i + 1 < e.kids.size(); i += 2) {
    Value key = eval(*e.kids[i], frame);
    Value value = eval(*e.kids[i + 1], frame);
    entries.emplace_back(std::move(key), std::move(value));
  }
  line_ = e.line;
  return new_dict(std::move(entries));
}

Value Interpreter::eval_slice(const Expr& e, Frame& frame) {
  Value parts[4];
  for (size_t i = 0; i < 4; ++i) parts[i] = e.kids[i] == nullptr ? Value::none() : eval(*e.kids[i], frame);
  line_ = e.line;
  return slice(parts[0], parts[1], parts[2], parts[3]);
}

Arguments Interpreter::eval_arguments(const Expr& e, Frame& frame, size_t first) {
  Arguments args;
  const size_t n_named = e.keywords.size(), n_stars = size_t{e.has_star} + size_t{e.has_double_star};
  const size_t n_positional = e.kids.size() - first - n_named - n_stars;
  args.positional.reserve(n_positional + 1);
  for (size_t i = 0; i < n_positional; ++i) args.positional.push_back(eval(*e.kids[first + i], frame));
  size_t at = first + n_positional;
  for (const std::string& keyword : e.keywords) args.named.emplace_back(keyword, eval(*e.kids[at++], frame));
  if (e.has_star) {
    const Value more = eval(*e.kids[at++], frame);
    if (!is_iterable(more)) raise("TypeError", "Value after * must be an iterable, not {}", type_name(more));
    for (Value& v : to_vector(more)) args.positional.push_back(std::move(v));
  }
  if (e.has_double_star) {
    const Value more = eval(*e.kids[at], frame);
    if (!more.is(Kind::dict)) raise("TypeError", "argument after ** must be a mapping, not {}", type_name(more));
    budget.charge(more.as_dict().entries.size());
    for (const auto& [key, value] : more.as_dict().entries) {
      if (!key.is_string()) raise("TypeError", "keywords must be strings");
      for (size_t i = 0; i < n_named; ++i) {
        if (args.named[i].first == key.bytes())
          raise("TypeError", "got multiple values for keyword argument '{}'", key.bytes());
      }
      args.named.emplace_back(key.bytes(), value);
    }
  }
  return args;
}

Value Interpreter::eval_call(const Expr& e, Frame& frame) {
  budget.check_stack();
  budget.statement();
  const Value callee = eval(*e.kids[0], frame);
  Arguments args = eval_arguments(e, frame, 1);
  line_ = e.line;
  return call(callee, args);
}

Value Interpreter::eval_filter(const Expr& e, Frame& frame, const Value* subject) {
  budget.check_stack();
  budget.charge(2);
  Value value = e.kids[0] == nullptr                  ? (subject == nullptr ? Value::trusted_string("") : *subject)
                : e.kids[0]->kind == ExprKind::filter ? eval_filter(*e.kids[0], frame, subject)
                                                      : eval(*e.kids[0], frame);
  Arguments args = eval_arguments(e, frame, 1);
  args.positional.insert(args.positional.begin(), std::move(value));
  line_ = e.line;
  if (e.function == nullptr) raise("TemplateRuntimeError", "No filter named '{}' found.", e.text);
  return e.function(*this, args);
}

Value Interpreter::eval_test(const Expr& e, Frame& frame) {
  budget.check_stack();
  Value value = eval(*e.kids[0], frame);
  Arguments args = eval_arguments(e, frame, 1);
  args.positional.insert(args.positional.begin(), std::move(value));
  line_ = e.line;
  if (e.function == nullptr) raise("TemplateRuntimeError", "No test named '{}' found.", e.text);
  return e.function(*this, args);
}

Value Interpreter::eval_logic(const Expr& e, Frame& frame) {
  budget.check_stack();
  const bool stop_at = e.kind == ExprKind::or_;
  for (size_t i = 0; i + 1 < e.kids.size(); ++i) {
    Value v = eval(*e.kids[i], frame);
    if (truthy(v) == stop_at) return v;
  }
  return eval(*e.kids.back(), frame);
}

Value Interpreter::eval_compare(const Expr& e, Frame& frame) {
  budget.check_stack();
  Value left = eval(*e.kids[0], frame);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    Value right = eval(*e.kids[i + 1], frame);
    line_ = e.line;
    if (!compare(e.ops[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::eval_binary(const Expr& e, Frame& frame) {
  budget.check_stack();
  Value left = eval(*e.kids[0], frame);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    const Value right = eval(*e.kids[i + 1], frame);
    line_ = e.line;
    left = binary(e.ops[i], left, right);
  }
  return left;
}

Value Interpreter::eval_concat(const Expr& e, Frame& frame) {
  budget.check_stack();
  MarkedText out;
  std::vector<Value> parts;
  parts.reserve(e.kids.size());
  for (const ExprPtr& kid : e.kids) parts.push_back(eval(*kid, frame));
  size_t n_bytes = 0;
  for (Value& part : parts) {
    if (!part.is_string()) part = Value::string(text_of(part));
    n_bytes += part.text().size();
  }
  budget.make_bytes(n_bytes);
  out.reserve(n_bytes);
  for (const Value& part : parts) out.append(part.text());
  return Value::string(std::move(out));
}

Value Interpreter::eval_conditional(const Expr& e, Frame& frame) {
  budget.check_stack();
  const bool holds = truthy(eval(*e.kids[0], frame));
  if (holds) return eval(*e.kids[1], frame);
  if (e.kids[2] != nullptr) return eval(*e.kids[2], frame);
  return make_undefined_hint(
      fmt::format("the inline if-expression on line {} evaluated to false and no else section was defined.", e.line));
}

}  // namespace ridge::jinja
