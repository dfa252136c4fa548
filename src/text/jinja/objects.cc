// Owns the facts about values that need no interpreter: names of types, truth, equality, order. The wording of messages
// is CPython 3.11's and Jinja2 3.1's, because templates' users search for it.
#include "text/jinja/objects.h"

#include <cmath>

namespace ridge::jinja {

namespace {

// More leaves than any sensible key has; nested tuples can stand for exponentially many.
constexpr size_t kMaxKeyLeaves = 1000;

bool hashable(const Value& v, size_t& n_leaves) {
  if (++n_leaves > kMaxKeyLeaves) raise_limit("a tuple with more than {} parts is no key", kMaxKeyLeaves);
  if (v.is(Kind::list) || v.is(Kind::dict) || v.is_object(ObjectKind::dict_view)) return false;
  if (!v.is(Kind::tuple)) return true;
  for (const Value& item : v.items()) {
    if (!hashable(item, n_leaves)) return false;
  }
  return true;
}

const char* object_kind_name(const Value& v) {
  switch (v.object()->kind) {
    case ObjectKind::big_integer:
      return "int";
    case ObjectKind::range:
      return "range";
    case ObjectKind::dict_view: {
      const ViewKind view = v.get<DictViewObject>().view;
      return view == ViewKind::keys ? "dict_keys" : view == ViewKind::values ? "dict_values" : "dict_items";
    }
    case ObjectKind::generator:
      return "generator";
    case ObjectKind::reversed:
      return "list_reverseiterator";
    case ObjectKind::name_space:
      return "Namespace";
    case ObjectKind::macro:
      return "Macro";
    case ObjectKind::loop:
      return "LoopContext";
    case ObjectKind::method:
      return "builtin_function_or_method";
    case ObjectKind::function:
      return "function";
    case ObjectKind::cycler:
      return "Cycler";
    case ObjectKind::joiner:
      return "Joiner";
    default:
      return "object";
  }
}

bool equal_sequences(const std::vector<Value>& x, const std::vector<Value>& y, Budget& budget) {
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!equal(x[i], y[i], budget)) return false;
  }
  return true;
}

bool equal_dicts(const DictObject& x, const DictObject& y, Budget& budget) {
  if (x.entries.size() != y.entries.size()) return false;
  for (const auto& [key, value] : x.entries) {
    const Value* other = y.find(key);
    if (other == nullptr || !equal(value, *other, budget)) return false;
  }
  return true;
}

}  // namespace

void NamespaceObject::set(const std::string& name, Value value) {
  const auto [at, added] = index_.try_emplace(name, attributes.size());
  if (added) {
    attributes.emplace_back(name, std::move(value));
  } else {
    attributes[at->second].second = std::move(value);
  }
}

const Value* NamespaceObject::find(const std::string& name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &attributes[at->second].second;
}

Value DictViewObject::at(size_t i) const {
  const auto& [key, value] = dict.as_dict().entries[i];
  if (view == ViewKind::keys) return key;
  if (view == ViewKind::values) return value;
  return Value::tuple({key, value});
}

Value check_depth(Value v) {
  if (v.depth() > kMaxValueDepth) raise_limit("values nested more than {} deep", kMaxValueDepth);
  return v;
}

Value new_list(std::vector<Value> items) {
  Value v = check_depth(Value::list(std::move(items)));
  v.get<ListObject>().private_ = true;
  return v;
}

Value new_tuple(std::vector<Value> items) {
  return check_depth(Value::tuple(std::move(items)));
}

Value new_dict(std::vector<std::pair<Value, Value>> entries) {
  for (const auto& entry : entries) require_hashable(entry.first);
  return check_depth(Value::dict(std::move(entries)));
}

Value make_undefined(std::string name) {
  auto u = std::make_shared<UndefinedObject>();
  u->name = Value::trusted_string(std::move(name));
  return Value::of(Kind::undefined, std::move(u));
}

Value make_undefined_hint(std::string hint) {
  auto u = std::make_shared<UndefinedObject>();
  u->hint = std::move(hint);
  return Value::of(Kind::undefined, std::move(u));
}

Value make_undefined_of(const Value& owner, Value name) {
  auto u = std::make_shared<UndefinedObject>();
  u->owner = object_type_repr(owner);
  // Only what a message can show is kept: a container as a name could nest without end.
  u->name = name.depth() <= 1 ? std::move(name) : Value::trusted_string(type_name(name));
  return Value::of(Kind::undefined, std::move(u));
}

Value make_unsafe(const Value& owner, std::string_view name) {
  auto u = std::make_shared<UndefinedObject>();
  u->hint = fmt::format("access to attribute {} of {} object is unsafe.", repr_of_string(name),
                        repr_of_string(type_name(owner)));
  u->security = true;
  return Value::of(Kind::undefined, std::move(u));
}

void raise_undefined(const Value& undefined) {
  const auto& u = undefined.get<UndefinedObject>();
  if (!u.hint.empty()) raise(u.security ? "SecurityError" : "UndefinedError", "{}", u.hint);
  Budget budget{RenderLimits{}};
  const std::string name = u.name.is_missing() ? "None" : repr(u.name, budget);
  if (u.owner.empty()) raise("UndefinedError", "{} is undefined", name);
  if (!u.name.is_string()) raise("UndefinedError", "{} has no element {}", u.owner, name);
  raise("UndefinedError", "{} has no attribute {}", repr_of_string(u.owner), name);
}

std::string type_name(const Value& v) {
  switch (v.kind()) {
    case Kind::missing:
      return "missing";
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return v.str().markup ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return v.get<ListObject>().grouped ? "_GroupTuple" : "tuple";
    case Kind::dict:
      return "dict";
    case Kind::object:
      return object_kind_name(v);
  }
  return "object";
}

std::string object_type_repr(const Value& v) {
  if (v.is_none()) return "None";
  const std::string name = type_name(v);
  const char* module = "";
  if (v.is_undefined() || v.is_object(ObjectKind::macro) || v.is_object(ObjectKind::loop)) {
    module = "jinja2.runtime.";
  } else if (v.is_object(ObjectKind::name_space) || v.is_object(ObjectKind::cycler) ||
             v.is_object(ObjectKind::joiner)) {
    module = "jinja2.utils.";
  } else if (v.is_string() && v.str().markup) {
    module = "markupsafe.";
  } else if (v.is(Kind::tuple) && v.get<ListObject>().grouped) {
    module = "jinja2.filters.";
  }
  return module + name + " object";
}

bool truthy(const Value& v) {
  switch (v.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return v.as_int() != 0;
    case Kind::real:
      return v.as_real() != 0.0;
    case Kind::string:
      return !v.text().empty();
    case Kind::list:
    case Kind::tuple:
      return !v.items().empty();
    case Kind::dict:
      return !v.as_dict().entries.empty();
    case Kind::object:
      break;
  }
  if (v.is_object(ObjectKind::range)) return v.get<RangeObject>().length != 0;
  if (v.is_object(ObjectKind::dict_view)) return v.get<DictViewObject>().size() != 0;
  if (v.is_object(ObjectKind::loop)) return v.get<LoopObject>().index0 >= 0;
  return true;
}

bool is_hashable(const Value& v) {
  size_t n_leaves = 0;
  return hashable(v, n_leaves);
}

void require_hashable(const Value& v) {
  if (is_hashable(v)) return;
  const Value* at = &v;
  while (at->is(Kind::tuple)) {  // Python names the part that cannot be hashed
    for (const Value& item : at->items()) {
      if (!is_hashable(item)) {
        at = &item;
        break;
      }
    }
  }
  raise("TypeError", "unhashable type: '{}'", type_name(*at));
}

bool is_number(const Value& v) {
  return v.is_whole() || v.is(Kind::real);
}

bool identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.object() != nullptr || b.object() != nullptr) {
    if (a.object() == b.object()) return true;
    // CPython keeps one object for equal short literals; templates only ever compare against such.
    return a.is_string() && b.is_string() && a.bytes() == b.bytes();
  }
  if (a.is(Kind::real)) return a.as_real() == b.as_real();
  return a.is_none() || a.as_int() == b.as_int();
}

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.charge(1);
  if (is_number(a) && is_number(b)) {
    if (std::isnan(a.as_real()) || std::isnan(b.as_real())) return false;
    return compare_numbers(a, b) == 0;
  }
  if (a.kind() != b.kind()) return false;
  if (a.object() != nullptr && a.object() == b.object()) return true;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      budget.read_bytes(std::min(a.text().size(), b.text().size()));
      return a.bytes() == b.bytes();
    case Kind::list:
    case Kind::tuple:
      return equal_sequences(a.items(), b.items(), budget);
    case Kind::dict:
      return equal_dicts(a.as_dict(), b.as_dict(), budget);
    default:
      break;
  }
  if (a.is_object(ObjectKind::big_integer) && b.is_object(ObjectKind::big_integer)) {
    return a.get<BigIntegerObject>().digits == b.get<BigIntegerObject>().digits;
  }
  if (a.is_object(ObjectKind::range) && b.is_object(ObjectKind::range)) {
    const auto &x = a.get<RangeObject>(), &y = b.get<RangeObject>();
    return x.length == y.length && (x.length == 0 || (x.start == y.start && (x.length == 1 || x.step == y.step)));
  }
  return false;
}

bool ordered(const Value& a, const Value& b, std::string_view op, Budget& budget) {
  budget.charge(1);
  const auto holds = [op](int c) {
    return op[0] == '<' ? (c < 0 || (c == 0 && op.size() == 2)) : (c > 0 || (c == 0 && op.size() == 2));
  };
  if (is_number(a) && is_number(b)) {
    if (std::isnan(a.as_real()) || std::isnan(b.as_real())) return false;
    return holds(compare_numbers(a, b));
  }
  if (a.is_string() && b.is_string()) {
    budget.read_bytes(std::min(a.text().size(), b.text().size()));
    return holds(a.bytes().compare(b.bytes()));  // UTF-8 sorts as its code points do
  }
  if ((a.is(Kind::list) && b.is(Kind::list)) || (a.is(Kind::tuple) && b.is(Kind::tuple))) {
    const auto &x = a.items(), &y = b.items();
    for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (!equal(x[i], y[i], budget)) return ordered(x[i], y[i], op, budget);
    }
    return holds(x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0);
  }
  if (a.is_undefined()) raise_undefined(a);
  if (b.is_undefined()) raise_undefined(b);
  raise("TypeError", "'{}' not supported between instances of '{}' and '{}'", op, type_name(a), type_name(b));
}

bool has_untrusted(const Value& v, Budget& budget) {
  budget.charge(1);
  switch (v.kind()) {
    case Kind::string:
      return !v.text().all_trusted();
    case Kind::list:
    case Kind::tuple:
      for (const Value& item : v.items()) {
        if (has_untrusted(item, budget)) return true;
      }
      return false;
    case Kind::dict:
      for (const auto& [key, value] : v.as_dict().entries) {
        if (has_untrusted(key, budget) || has_untrusted(value, budget)) return true;
      }
      return false;
    case Kind::object:
      return !v.is_object(ObjectKind::range) && !v.is_object(ObjectKind::loop);
    default:
      return false;
  }
}

}  // namespace ridge::jinja
