// The values that exist only inside a render: undefined results, lazy sequences, namespaces, loops, macros, bound
// methods. Also what every part of the interpreter asks of any value: its type's name, truth, equality, order, text.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace ridge::jinja {

class Interpreter;
struct Statement;
struct Frame;

struct UndefinedObject final : Object {
  UndefinedObject() : Object(ObjectKind::undefined) {}
  std::string hint;   // the whole message, where it has one of its own
  std::string owner;  // Jinja2's description of the object that lacks the name; empty for a variable
  Value name;         // a string, or whatever was between the brackets
  bool security = false;
};

struct BigIntegerObject final : Object {
  explicit BigIntegerObject(std::string d) : Object(ObjectKind::big_integer), digits(std::move(d)) {}
  const std::string digits;  // as JSON wrote it: printed, never computed with
};

struct RangeObject final : Object {
  RangeObject(int64_t a, int64_t b, int64_t s, int64_t n)
      : Object(ObjectKind::range), start(a), stop(b), step(s), length(n) {}
  const int64_t start, stop, step, length;
};

enum class ViewKind : uint8_t { keys, values, items };

struct DictViewObject final : Object {
  DictViewObject(Value d, ViewKind v) : Object(ObjectKind::dict_view, d.depth() + 1), dict(std::move(d)), view(v) {}
  const Value dict;
  const ViewKind view;
  Value at(size_t i) const;
  size_t size() const { return dict.as_dict().entries.size(); }
};

// One pass over something, as Python's iter().
class Iterator {
 public:
  virtual ~Iterator() = default;
  // false: the end. Each call costs steps.
  virtual bool next(Interpreter& in, Value& out) = 0;
};

// A Python generator or reversed iterator: lazy, used up once.
struct GeneratorObject final : Object {
  GeneratorObject(ObjectKind k, uint32_t d, std::shared_ptr<Iterator> i) : Object(k, d), iterator(std::move(i)) {}
  std::shared_ptr<Iterator> iterator;  // shared with the loops that walk it
};

struct NamespaceObject final : Object {
  NamespaceObject() : Object(ObjectKind::name_space) {}
  void set(const std::string& name, Value value);
  const Value* find(const std::string& name) const;
  std::vector<std::pair<std::string, Value>> attributes;  // in order of insertion

 private:
  std::map<std::string, size_t> index_;
};

struct MacroObject final : Object {
  MacroObject(const Statement& n, std::shared_ptr<Frame> f) : Object(ObjectKind::macro), node(n), frame(std::move(f)) {}
  const Statement& node;
  std::shared_ptr<Frame> frame;  // where it was defined: its free names live there
};

struct LoopObject final : Object {
  LoopObject() : Object(ObjectKind::loop) {}
  Value sequence;  // what is walked, for its length
  std::shared_ptr<Iterator> iterator;
  int64_t index0 = -1;
  int64_t depth0 = 0;
  std::optional<int64_t> length;
  Value after, current, before, changed;  // missing: none yet
  const Statement* recursive = nullptr;   // set: loop(...) renders this statement's body again
  std::shared_ptr<Frame> frame;           // where the recursive loop stands
  bool tracked = false;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

using Builtin = Value (*)(Interpreter& in, Arguments& args);
using Method = Value (*)(Interpreter& in, const Value& self, Arguments& args);

struct FunctionObject final : Object {
  FunctionObject(std::string_view n, Builtin f) : Object(ObjectKind::function), name(n), function(f) {}
  const std::string_view name;
  const Builtin function;
};

struct MethodObject final : Object {
  MethodObject(std::string_view n, Value s, Method m)
      : Object(ObjectKind::method, s.depth() + 1), name(n), self(std::move(s)), method(m) {}
  const std::string_view name;
  const Value self;
  const Method method;
};

struct CyclerObject final : Object {
  CyclerObject(std::vector<Value> i, uint32_t d) : Object(ObjectKind::cycler, d), items(std::move(i)) {}
  const std::vector<Value> items;
  size_t at = 0;
};

struct JoinerObject final : Object {
  explicit JoinerObject(Value s) : Object(ObjectKind::joiner, s.depth() + 1), separator(std::move(s)) {}
  const Value separator;
  bool used = false;
};

// Containers made by a template: refused when nested deeper than a destructor or a printer may recurse.
Value new_list(std::vector<Value> items);
Value new_tuple(std::vector<Value> items);
Value new_dict(std::vector<std::pair<Value, Value>> entries);
Value check_depth(Value v);

Value make_undefined(std::string name);                   // 'name' is undefined
Value make_undefined_hint(std::string hint);              // an undefined with words of its own
Value make_undefined_of(const Value& owner, Value name);  // 'dict object' has no attribute 'name'
Value make_unsafe(const Value& owner, std::string_view name);
[[noreturn]] void raise_undefined(const Value& undefined);

std::string type_name(const Value& v);         // as Python's type(v).__name__
std::string object_type_repr(const Value& v);  // as Jinja2 words it in messages
bool truthy(const Value& v);
bool is_hashable(const Value& v);
void require_hashable(const Value& v);
bool is_number(const Value& v);
int compare_numbers(const Value& a, const Value& b);
bool equal(const Value& a, const Value& b, Budget& budget);
bool identical(const Value& a, const Value& b);
// a op b for "<", "<=", ">", ">=": Python's rules, TypeError for types without an order.
bool ordered(const Value& a, const Value& b, std::string_view op, Budget& budget);
bool has_untrusted(const Value& v, Budget& budget);

std::string format_real(double d);                 // Python's repr of a float
std::string repr(const Value& v, Budget& budget);  // Python's repr
std::string repr_of_string(std::string_view s);
MarkedText to_text(const Value& v, Budget& budget);  // Python's str, with the origin of each byte

}  // namespace ridge::jinja
