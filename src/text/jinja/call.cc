// Calls: functions, methods, macros, recursive loops; filters and tests by name.
#include <algorithm>

#include "text/jinja/bind.h"
#include "text/jinja/interpreter.h"

namespace ridge::jinja {

namespace {

// Takes a named argument out; missing if it was not given.
Value take_named(Arguments& args, std::string_view name) {
  const auto at =
      std::find_if(args.named.begin(), args.named.end(), [&](const auto& named) { return named.first == name; });
  if (at == args.named.end()) return {};
  Value value = std::move(at->second);
  args.named.erase(at);
  return value;
}

std::string quoted_name(const Statement& node) {
  return node.kind == StmtKind::macro ? repr_of_string(node.name) : "None";
}

Value make_kwargs(Arguments& args) {
  std::vector<std::pair<Value, Value>> entries;
  for (auto& [name, value] : args.named) entries.emplace_back(Value::trusted_string(name), std::move(value));
  args.named.clear();
  return new_dict(std::move(entries));
}

}  // namespace

Value Interpreter::call(const Value& callee, Arguments& args) {
  budget.check_stack();
  if (callee.is_undefined()) raise_undefined(callee);
  if (callee.is(Kind::object)) {
    switch (callee.object()->kind) {
      case ObjectKind::function:
        return callee.get<FunctionObject>().function(*this, args);
      case ObjectKind::method: {
        const auto& method = callee.get<MethodObject>();
        return method.method(*this, method.self, args);
      }
      case ObjectKind::macro:
        return call_macro(callee.get<MacroObject>(), args);
      case ObjectKind::loop:
        return call_loop(callee.object(), args);
      case ObjectKind::joiner: {
        auto& joiner = callee.get<JoinerObject>();
        if (joiner.used) return joiner.separator;
        joiner.used = true;
        return Value::trusted_string("");
      }
      default:
        break;
    }
  }
  raise("TypeError", "'{}' object is not callable", type_name(callee));
}

// Positional arguments first, then named ones, then defaults; what is left over goes to varargs and kwargs if the body
// asks.
Value Interpreter::call_macro(const MacroObject& macro, Arguments& args) {
  const DepthGuard guard(*this);
  const Statement& node = macro.node;
  const FramePtr frame = new_frame(node.frame, macro.frame);
  enter(*frame);
  const size_t n = node.targets.size(), n_positional = std::min(n, args.positional.size());
  budget.charge(args.positional.size() + args.named.size());

  std::vector<Value> given(n);
  bool found_caller = n_positional == n && node.explicit_caller;
  for (size_t i = 0; i < n_positional; ++i) given[i] = std::move(args.positional[i]);
  for (size_t i = n_positional; i < n; ++i) {
    const std::string& name = node.targets[i]->text;
    given[i] = take_named(args, name);
    found_caller |= name == "caller";
  }
  if (node.caller_slot >= 0 && !found_caller) {
    Value caller = take_named(args, "caller");
    if (caller.is_missing() || caller.is_none()) caller = make_undefined_hint("No caller defined");
    frame->slots[static_cast<size_t>(node.caller_slot)] = std::move(caller);
  }
  if (node.kwargs_slot >= 0) {
    frame->slots[static_cast<size_t>(node.kwargs_slot)] = make_kwargs(args);
  } else if (!args.named.empty()) {
    for (const auto& named : args.named) {
      if (named.first != "caller") continue;
      raise("TypeError",
            "macro {} was invoked with two values for the special caller argument. This is most likely a bug.",
            quoted_name(node));
    }
    raise("TypeError", "macro {} takes no keyword argument {}", quoted_name(node), repr_of_string(args.named[0].first));
  }
  if (node.varargs_slot >= 0) {
    std::vector<Value> rest;
    for (size_t i = n_positional; i < args.positional.size(); ++i) rest.push_back(std::move(args.positional[i]));
    frame->slots[static_cast<size_t>(node.varargs_slot)] = new_tuple(std::move(rest));
  } else if (args.positional.size() > n) {
    raise("TypeError", "macro {} takes not more than {} argument(s)", quoted_name(node), n);
  }

  for (size_t i = 0; i < n; ++i) frame->slots[node.targets[i]->slot.slot] = std::move(given[i]);
  const size_t first_default = n - node.exprs.size();
  for (size_t i = 0; i < n; ++i) {
    Value& slot = frame->slots[node.targets[i]->slot.slot];
    if (!slot.is_missing()) continue;
    Value value =
        i >= first_default
            ? eval(*node.exprs[i - first_default], *frame)
            : make_undefined_hint(fmt::format("parameter {} was not provided", repr_of_string(node.targets[i]->text)));
    frame->slots[node.targets[i]->slot.slot] = std::move(value);
  }
  MarkedText out;
  exec(node.body, frame, out);
  return Value::string(std::move(out));
}

Value Interpreter::call_loop(const std::shared_ptr<Object>& object, Arguments& args) {
  auto& loop = static_cast<LoopObject&>(*object);
  std::vector<Value> bound = bind_arguments({"__call__", {"iterable"}, 1}, args);
  if (loop.recursive == nullptr) {
    raise("TypeError", "The loop must have the 'recursive' marker to be called recursively.");
  }
  const DepthGuard guard(*this);
  MarkedText out;
  Flow flow = Flow::normal;
  run_loop(*loop.recursive, loop.frame, bound[0], loop.depth0 + 1, out, flow);
  return Value::string(std::move(out));
}

Value Interpreter::call_filter(std::string_view name, Arguments& args) {
  const Builtin filter = find_filter(name);
  if (filter == nullptr) raise("TemplateRuntimeError", "No filter named {}.", repr_of_string(name));
  return filter(*this, args);
}

bool Interpreter::call_test(std::string_view name, Arguments& args) {
  const Builtin test = find_test(name);
  if (test == nullptr) raise("TemplateRuntimeError", "No test named {}.", repr_of_string(name));
  return truthy(test(*this, args));
}

}  // namespace ridge::jinja
