// foo.bar, foo["bar"], foo[1:2]. Jinja2 looks for an attribute first with the dot and for an item first with brackets;
// either falls back to the other. What the immutable sandbox withholds becomes an undefined that raises SecurityError
// when used.
#include <algorithm>
#include <array>

#include "text/jinja/interpreter.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

// The attributes of every Python object; asking for one is unsafe, asking for another underscored name is just
// undefined.
bool is_python_internal(std::string_view name) {
  static constexpr std::array<std::string_view, 28> kNames = {
      "__class__",   "__delattr__", "__dir__",           "__doc__",          "__eq__",
      "__format__",  "__ge__",      "__getattribute__",  "__getstate__",     "__gt__",
      "__hash__",    "__init__",    "__init_subclass__", "__le__",           "__lt__",
      "__ne__",      "__new__",     "__reduce__",        "__reduce_ex__",    "__repr__",
      "__setattr__", "__sizeof__",  "__str__",           "__subclasshook__", "__len__",
      "__iter__",    "__getitem__", "__contains__"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool mutates_list(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames = {"append", "reverse", "insert", "sort", "extend", "remove"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool mutates_dict(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames = {"clear", "pop", "popitem", "setdefault", "update"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Value bound(std::string_view name, const Value& self, Method method) {
  return check_depth(Value::object(std::make_shared<MethodObject>(name, self, method)));
}

Value cycler_method(Interpreter& in, const Value& self, Arguments&, bool reset) {
  auto& cycler = self.get<CyclerObject>();
  in.budget.charge(1);
  if (reset) {
    cycler.at = 0;
    return Value::none();
  }
  const Value out = cycler.items[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.items.size();
  return out;
}

Value cycler_attribute(const Value& v, std::string_view name) {
  const auto& cycler = v.get<CyclerObject>();
  if (name == "current") return cycler.items[cycler.at];
  if (name == "items") return new_tuple(cycler.items);
  if (name == "pos") return Value::integer(static_cast<int64_t>(cycler.at));
  if (name == "next") {
    return bound("next", v, [](Interpreter& in, const Value& self, Arguments& args) {
      return cycler_method(in, self, args, false);
    });
  }
  if (name == "reset") {
    return bound("reset", v, [](Interpreter& in, const Value& self, Arguments& args) {
      return cycler_method(in, self, args, true);
    });
  }
  return {};
}

Value macro_attribute(const Value& v, std::string_view name) {
  const Statement& node = v.get<MacroObject>().node;
  if (name == "name") return node.kind == StmtKind::macro ? Value::trusted_string(node.name) : Value::none();
  if (name == "catch_kwargs") return Value::boolean(node.kwargs_slot >= 0);
  if (name == "catch_varargs") return Value::boolean(node.varargs_slot >= 0);
  if (name == "caller") return Value::boolean(node.caller_slot >= 0);
  if (name == "arguments") {
    std::vector<Value> names;
    for (const ExprPtr& p : node.targets) names.push_back(Value::trusted_string(p->text));
    return new_list(std::move(names));
  }
  return {};
}

struct SliceRange {
  int64_t start = 0, stop = 0, step = 1, n = 0;
};

int64_t slice_index(const Value& v) {
  if (v.is_whole()) return v.as_int();
  raise("TypeError", "slice indices must be integers or None or have an __index__ method");
}

// PySlice_AdjustIndices.
SliceRange slice_range(const Value& start, const Value& stop, const Value& step, int64_t length) {
  SliceRange out;
  out.step = step.is_none() ? 1 : slice_index(step);
  if (out.step == 0) raise("ValueError", "slice step cannot be zero");
  const bool back = out.step < 0;
  const auto adjust = [&](const Value& v, int64_t when_none) {
    if (v.is_none()) return when_none;
    int64_t i = slice_index(v);
    if (i < 0) {
      i = i < -length ? (back ? -1 : 0) : i + length;
    } else if (i >= length) {
      i = back ? length - 1 : length;
    }
    return i;
  };
  out.start = adjust(start, back ? length - 1 : 0);
  const int64_t end = out.stop = adjust(stop, back ? -1 : length);
  // The step is applied to unsigned numbers: -2^63 has no positive twin.
  if (back && end < out.start) {
    out.n = static_cast<int64_t>(static_cast<uint64_t>(out.start - end - 1) /
                                 (uint64_t{0} - static_cast<uint64_t>(out.step))) +
            1;
  } else if (!back && out.start < end) {
    out.n = (end - out.start - 1) / out.step + 1;
  }
  return out;
}

MarkedText slice_chars(Interpreter& in, const StringObject& s, const SliceRange& r) {
  in.budget.read_bytes(s.text.size());
  if (r.n == 0) return {};
  if (r.step == 1) {
    const size_t from = byte_offset(s.text.view(), s.n_chars, static_cast<size_t>(r.start));
    const size_t to = byte_offset(s.text.view().substr(from), s.n_chars == s.text.size() ? s.text.size() - from : 0,
                                  static_cast<size_t>(r.n));
    in.budget.make_bytes(to);
    return s.text.slice(from, to);
  }
  in.budget.make_bytes(static_cast<uint64_t>(r.n));
  in.budget.charge(static_cast<uint64_t>(r.n));
  std::vector<uint32_t> starts;  // where each character begins
  starts.reserve(s.n_chars + 1);
  for (size_t i = 0; i < s.text.size(); ++i) {
    if ((static_cast<uint8_t>(s.text.view()[i]) & 0xC0) != 0x80) starts.push_back(static_cast<uint32_t>(i));
  }
  starts.push_back(static_cast<uint32_t>(s.text.size()));
  MarkedText out;
  int64_t at = r.start;
  for (int64_t i = 0; i < r.n; ++i) {
    const auto c = static_cast<size_t>(at);
    out.append(s.text, starts[c], starts[c + 1] - starts[c]);
    if (i + 1 < r.n) at += r.step;
  }
  return out;
}

}  // namespace

Value Interpreter::attribute(const Value& v, std::string_view name) {
  if (!name.empty() && name[0] == '_') return is_python_internal(name) ? make_unsafe(v, name) : Value();
  switch (v.kind()) {
    case Kind::string:
      if (const Method m = find_string_method(name); m != nullptr) return bound(name, v, m);
      return {};
    case Kind::list:
      if (mutates_list(name)) return make_unsafe(v, name);
      if (!v.get<ListObject>().private_ && (name == "pop" || name == "clear")) return make_unsafe(v, name);
      if (const Method m = find_sequence_method(name, true); m != nullptr) return bound(name, v, m);
      return {};
    case Kind::tuple:
      if (v.get<ListObject>().grouped && name == "grouper") return v.items()[0];
      if (v.get<ListObject>().grouped && name == "list") return v.items()[1];
      if (const Method m = find_sequence_method(name, false); m != nullptr) return bound(name, v, m);
      return {};
    case Kind::dict:
      if (mutates_dict(name)) return make_unsafe(v, name);
      if (const Method m = find_dict_method(name); m != nullptr) return bound(name, v, m);
      return {};
    case Kind::boolean:
    case Kind::integer:
      if (name == "real" || name == "numerator") return Value::integer(v.as_int());
      if (name == "imag") return Value::integer(0);
      if (name == "denominator") return Value::integer(1);
      return {};
    case Kind::real:
      if (name == "real") return v;
      if (name == "imag") return Value::real(0);
      return {};
    case Kind::object:
      break;
    default:
      return {};
  }
  switch (v.object()->kind) {
    case ObjectKind::name_space: {
      const Value* found = v.get<NamespaceObject>().find(std::string(name));
      return found == nullptr ? Value() : *found;
    }
    case ObjectKind::loop:
      return loop_attribute(v, name);
    case ObjectKind::cycler:
      return cycler_attribute(v, name);
    case ObjectKind::macro:
      return macro_attribute(v, name);
    case ObjectKind::range: {
      const auto& r = v.get<RangeObject>();
      if (name == "start") return Value::integer(r.start);
      if (name == "stop") return Value::integer(r.stop);
      if (name == "step") return Value::integer(r.step);
      if (const Method m = find_range_method(name); m != nullptr) return bound(name, v, m);
      return {};
    }
    default:
      return {};
  }
}

Value Interpreter::getattr(const Value& object, const Value& name) {
  if (object.is_undefined()) raise_undefined(object);
  Value found = attribute(object, name.bytes());
  if (!found.is_missing()) return found;
  if (object.is(Kind::dict)) {
    if (const Value* item = object.as_dict().find(name.bytes()); item != nullptr) return *item;
  }
  return make_undefined_of(object, name);
}

Value Interpreter::char_at(const Value& string, size_t char_idx) {
  const StringObject& s = string.str();
  budget.read_bytes(s.is_ascii() ? 0 : s.text.size());
  const size_t at = byte_offset(s.text.view(), s.n_chars, char_idx);
  return Value::string(s.text.slice(at, utf8_read(s.text.view(), at).n_bytes));
}

Value Interpreter::getitem(const Value& object, const Value& key) {
  if (object.is_undefined()) raise_undefined(object);
  if (object.is(Kind::dict)) {
    if (is_hashable(key)) {
      if (const Value* item = object.as_dict().find(key); item != nullptr) return *item;
    }
  } else if (key.is_whole()) {
    const bool is_range = object.is_object(ObjectKind::range);
    if (object.is_string() || object.is(Kind::list) || object.is(Kind::tuple) || is_range) {
      const int64_t n = length(object);
      int64_t i = key.as_int();
      if (i < 0) i += n;
      if (i >= 0 && i < n) {
        if (object.is_string()) return char_at(object, static_cast<size_t>(i));
        if (is_range) {
          const auto& r = object.get<RangeObject>();
          return Value::integer(r.start + i * r.step);
        }
        return object.items()[static_cast<size_t>(i)];
      }
    }
  }
  if (key.is_string()) {
    Value found = attribute(object, key.bytes());
    if (!found.is_missing()) return found;
  }
  return make_undefined_of(object, key);
}

Value Interpreter::slice(const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is_undefined()) raise_undefined(object);
  if (object.is(Kind::dict)) raise("TypeError", "unhashable type: 'slice'");
  const bool is_range = object.is_object(ObjectKind::range);
  if (!object.is_string() && !object.is(Kind::list) && !object.is(Kind::tuple) && !is_range) {
    raise("TypeError", "'{}' object is not subscriptable", type_name(object));
  }
  const SliceRange r = slice_range(start, stop, step, length(object));
  if (object.is_string()) return Value::string(slice_chars(*this, object.str(), r), object.str().markup);
  if (is_range) {
    const auto& whole = object.get<RangeObject>();
    int64_t new_step = 0;
    if (__builtin_mul_overflow(whole.step, r.step, &new_step)) new_step = r.step < 0 ? -1 : 1;
    // The unsigned detour: an end beyond the last element may lie outside 64 bits, and is only ever printed.
    const auto index = [&](int64_t i) {
      return static_cast<int64_t>(static_cast<uint64_t>(whole.start) +
                                  static_cast<uint64_t>(i) * static_cast<uint64_t>(whole.step));
    };
    return Value::object(std::make_shared<RangeObject>(index(r.start), index(r.stop), new_step, r.n));
  }
  budget.make_items(static_cast<uint64_t>(r.n));
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(r.n));
  int64_t at = r.start;
  for (int64_t i = 0; i < r.n; ++i) {
    items.push_back(object.items()[static_cast<size_t>(at)]);
    if (i + 1 < r.n) at += r.step;
  }
  return object.is(Kind::list) ? new_list(std::move(items)) : new_tuple(std::move(items));
}

}  // namespace ridge::jinja
