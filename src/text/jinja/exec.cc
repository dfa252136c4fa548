// Statements.
#include "text/jinja/interpreter.h"

namespace ridge::jinja {

Flow Interpreter::exec(const Body& body, const FramePtr& frame, MarkedText& out) {
  budget.check_stack();
  for (const auto& s : body) {
    if (const Flow flow = exec_statement(*s, frame, out); flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Flow Interpreter::exec_statement(const Statement& s, const FramePtr& frame, MarkedText& out) {
  budget.statement();
  line_ = s.line;
  switch (s.kind) {
    case StmtKind::data:
      emit(out, s.data);
      return Flow::normal;
    case StmtKind::output:
      for (const ExprPtr& e : s.exprs) {
        const Value v = eval(*e, *frame);
        emit(out, v.is_string() ? v.text() : text_of(v));
      }
      return Flow::normal;
    case StmtKind::set:
      exec_set(s, *frame);
      return Flow::normal;
    case StmtKind::set_block:
      return exec_set_block(s, frame);
    case StmtKind::if_:
      return exec_if(s, frame, out);
    case StmtKind::for_:
      return exec_for(s, frame, out);
    case StmtKind::macro: {
      Frame* home = frame.get();
      while (home->info->level > s.slot.level) home = home->parent.get();
      home->slots[s.slot.slot] = Value::object(std::make_shared<MacroObject>(s, frame));
      return Flow::normal;
    }
    case StmtKind::call_block:
      exec_call_block(s, frame, out);
      return Flow::normal;
    case StmtKind::generation: {
      const FramePtr inner = new_frame(s.frame, frame);
      enter(*inner);
      return exec(s.body, inner, out);
    }
    case StmtKind::filter_block:
      return exec_filter_block(s, frame, out);
    case StmtKind::with:
      return exec_with(s, frame, out);
    case StmtKind::block:
      exec_block(s, out);
      return Flow::normal;
    case StmtKind::break_:
      return Flow::break_;
    case StmtKind::continue_:
      return Flow::continue_;
  }
  return Flow::normal;
}

Flow Interpreter::exec_if(const Statement& s, const FramePtr& frame, MarkedText& out) {
  for (const Branch& branch : s.branches) {
    if (branch.test == nullptr || truthy(eval(*branch.test, *frame))) return exec(branch.body, frame, out);
  }
  return Flow::normal;
}

void Interpreter::exec_set(const Statement& s, Frame& frame) {
  const Expr& target = *s.targets[0];
  if (target.kind == ExprKind::name) {  // the common case, without a detour
    Value value = eval(*s.expr, frame);
    frame.slots[target.slot.slot] = std::move(value);
    return;
  }
  assign(target, target.kind == ExprKind::namespace_target ? Value() : eval(*s.expr, frame), frame);
  if (target.kind == ExprKind::namespace_target) {
    Frame* home = &frame;
    while (home->info->level > target.slot.level) home = home->parent.get();
    const Value ns = home->slots[target.slot.slot];
    Value value = eval(*s.expr, frame);
    ns.get<NamespaceObject>().set(target.text, std::move(value));
  }
}

// A namespace target with a missing value is only checked: Jinja2 looks at the target before it evaluates the value.
void Interpreter::assign(const Expr& target, Value value, Frame& frame) {
  if (target.kind == ExprKind::name) {
    frame.slots[target.slot.slot] = std::move(value);
    return;
  }
  if (target.kind == ExprKind::namespace_target) {
    Frame* home = &frame;
    while (home->info->level > target.slot.level) home = home->parent.get();
    const Value& ns = home->slots[target.slot.slot];
    if (!ns.is_object(ObjectKind::name_space)) {
      raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
    }
    if (!value.is_missing()) ns.get<NamespaceObject>().set(target.text, std::move(value));
    return;
  }
  if (!is_iterable(value)) raise("TypeError", "cannot unpack non-iterable {} object", type_name(value));
  const size_t n = target.kids.size();
  std::vector<Value> parts;
  const auto it = iterate(value);
  for (Value part; it->next(*this, part);) {
    if (parts.size() == n) raise("ValueError", "too many values to unpack (expected {})", n);
    parts.push_back(std::move(part));
  }
  if (parts.size() < n) raise("ValueError", "not enough values to unpack (expected {}, got {})", n, parts.size());
  for (size_t i = 0; i < n; ++i) assign(*target.kids[i], std::move(parts[i]), frame);
}

// The body's text, through the filter if there is one.
Flow Interpreter::exec_captured(const Statement& s, const FramePtr& frame, Value& result) {
  const FramePtr inner = new_frame(s.frame, frame);
  enter(*inner);
  MarkedText captured;
  const Flow flow = exec(s.body, inner, captured);
  if (flow != Flow::normal) return flow;
  result = Value::string(std::move(captured));
  if (s.expr != nullptr) {
    const Value subject = result;
    line_ = s.expr->line;
    result = eval_filter(*s.expr, *inner, &subject);
  }
  return flow;
}

Flow Interpreter::exec_set_block(const Statement& s, const FramePtr& frame) {
  Value value;
  const Flow flow = exec_captured(s, frame, value);
  if (flow == Flow::normal) assign(*s.targets[0], std::move(value), *frame);
  return flow;
}

Flow Interpreter::exec_filter_block(const Statement& s, const FramePtr& frame, MarkedText& out) {
  Value value;
  const Flow flow = exec_captured(s, frame, value);
  if (flow == Flow::normal) emit(out, text_of(value));
  return flow;
}

Flow Interpreter::exec_with(const Statement& s, const FramePtr& frame, MarkedText& out) {
  const FramePtr inner = new_frame(s.frame, frame);
  enter(*inner);
  for (size_t i = 0; i < s.targets.size(); ++i) assign(*s.targets[i], eval(*s.exprs[i], *frame), *inner);
  return exec(s.body, inner, out);
}

Flow Interpreter::exec_for(const Statement& s, const FramePtr& frame, MarkedText& out) {
  const Value sequence = eval(*s.expr, *frame);
  Flow flow = Flow::normal;
  run_loop(s, frame, sequence, 0, out, flow);
  return flow;
}

void Interpreter::exec_call_block(const Statement& s, const FramePtr& frame, MarkedText& out) {
  const Value callee = eval(*s.expr->kids[0], *frame);
  Arguments args = eval_arguments(*s.expr, *frame, 1);
  args.named.emplace_back("caller", Value::object(std::make_shared<MacroObject>(s, frame)));
  line_ = s.line;
  emit(out, text_of(call(callee, args)));
}

void Interpreter::exec_block(const Statement& s, MarkedText& out) {
  const FramePtr inner = new_frame(s.frame, nullptr);
  enter(*inner);
  exec(s.body, inner, out);
}

}  // namespace ridge::jinja
