// Owns a render's beginning and end, its frames and its arguments' binding.
#include "text/jinja/interpreter.h"

#include <algorithm>

namespace ridge::jinja {

Interpreter::Interpreter(const Template& tmpl, const Value& variables, const RenderOptions& options)
    : budget(options.limits),
      tmpl_(tmpl),
      variables_(variables),
      options_(options),
      context_cache_(tmpl.context_names.size()) {}

// Breaks every circle before the pointers let go: all that a template can change is cleared while all of it is still
// held.
Interpreter::~Interpreter() {
  for (const FramePtr& frame : tracked_frames_) frame->slots.clear();
  for (const auto& object : tracked_) {
    if (object->kind == ObjectKind::name_space) {
      static_cast<NamespaceObject&>(*object).attributes.clear();
    } else if (object->kind == ObjectKind::loop) {
      auto& loop = static_cast<LoopObject&>(*object);
      loop.after = loop.current = loop.before = loop.changed = loop.sequence = Value();
      loop.iterator = nullptr;
      loop.frame = nullptr;
    }
  }
}

MarkedText Interpreter::run() {
  MarkedText out;
  root_ = new_frame(tmpl_.frame, nullptr);
  enter(*root_);
  exec(tmpl_.body, root_, out);
  return out;
}

FramePtr Interpreter::new_frame(const FrameInfo& info, FramePtr parent) {
  auto frame = std::make_shared<Frame>();
  frame->parent = std::move(parent);
  frame->info = &info;
  frame->slots.resize(info.names.size());
  budget.charge(1 + info.names.size() / 8);
  if (info.has_closure) tracked_frames_.push_back(frame);
  return frame;
}

void Interpreter::enter(Frame& frame) {
  for (size_t i = 0; i < frame.slots.size(); ++i) {
    const Load& load = frame.info->loads[i];
    if (load.action == LoadAction::resolve) {
      frame.slots[i] = context_value(load.context_name);
    } else if (load.action == LoadAction::alias) {
      const Frame* outer = &frame;
      while (outer->info->level > load.outer.level) outer = outer->parent.get();
      frame.slots[i] = outer->slots[load.outer.slot];
    } else {
      frame.slots[i] = Value();
    }
  }
}

Value Interpreter::context_value(uint32_t name_idx) {
  Value& cached = context_cache_[name_idx];
  if (!cached.is_missing()) return cached;
  const std::string& name = tmpl_.context_names[name_idx];
  if (variables_.is(Kind::dict)) {
    if (const Value* found = variables_.as_dict().find(name); found != nullptr) {
      const auto& trusted = options_.trusted_variables;
      const bool is_trusted = found->is_string() && std::find(trusted.begin(), trusted.end(), name) != trusted.end();
      cached = is_trusted ? Value::trusted_string(found->bytes()) : *found;
      return cached;
    }
  }
  // A block sees what the top level has assigned; that changes, so it is not remembered.
  if (root_ != nullptr) {
    const auto& names = root_->info->names;
    if (const auto at = std::find(names.begin(), names.end(), name); at != names.end()) {
      const Value& value = root_->slots[static_cast<size_t>(at - names.begin())];
      if (!value.is_missing()) return value;
    }
  }
  if (const Builtin function = find_global(name); function != nullptr) {
    cached = Value::object(std::make_shared<FunctionObject>(name, function));
  }
  return cached;
}

MarkedText Interpreter::text_of(const Value& v) {
  if (v.is_object(ObjectKind::loop)) loop_length(v.get<LoopObject>());  // printed with it
  return to_text(v, budget);
}

void Interpreter::emit(MarkedText& out, const MarkedText& text) {
  if (out.size() + text.size() > budget.limits().output_bytes) {
    raise_limit("the output passes the limit of {} bytes", budget.limits().output_bytes);
  }
  budget.charge((text.size() + 8 * text.n_flips()) / 32);
  out.append(text);
}

std::vector<Value> bind_arguments(const Signature& signature, Arguments& args) {
  const size_t n = signature.parameters.size();
  if (args.positional.size() > n) {
    raise("TypeError", "{}() takes {}{} positional argument{} but {} were given", signature.name,
          signature.n_required < n ? fmt::format("from {} to ", signature.n_required) : "", n, n == 1 ? "" : "s",
          args.positional.size());
  }
  std::vector<Value> out = std::move(args.positional);
  out.resize(n);
  for (auto& [name, value] : args.named) {
    const auto at = std::find(signature.parameters.begin(), signature.parameters.end(), name);
    if (at == signature.parameters.end()) {
      raise("TypeError", "{}() got an unexpected keyword argument '{}'", signature.name, name);
    }
    Value& slot = out[static_cast<size_t>(at - signature.parameters.begin())];
    if (!slot.is_missing()) raise("TypeError", "{}() got multiple values for argument '{}'", signature.name, name);
    slot = std::move(value);
  }
  std::string lacking;
  size_t n_lacking = 0;
  for (size_t i = 0; i < signature.n_required; ++i) {
    if (!out[i].is_missing()) continue;
    lacking += fmt::format("{}'{}'", n_lacking == 0 ? "" : " and ", signature.parameters[i]);
    ++n_lacking;
  }
  if (n_lacking != 0) {
    raise("TypeError", "{}() missing {} required positional argument{}: {}", signature.name, n_lacking,
          n_lacking == 1 ? "" : "s", lacking);
  }
  return out;
}

int64_t whole_number(const Value& v, const char* what) {
  if (v.is_whole()) return v.as_int();
  if (v.is_undefined()) raise_undefined(v);
  raise("TypeError", "{}'{}' object cannot be interpreted as an integer", what, type_name(v));
}

const MarkedText& string_argument(const Value& v, std::string_view function) {
  if (v.is_string()) return v.text();
  raise("TypeError", "{} must be str, not {}", function, type_name(v));
}

}  // namespace ridge::jinja
