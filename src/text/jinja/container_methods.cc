// The methods of dict, list and tuple that the immutable sandbox lets through. list.pop and list.clear are among them
// in Jinja2 3.1.2; here they work on lists that the template made, and never on what the caller passed in.
#include <unordered_map>

#include "text/jinja/filters.h"

namespace ridge::jinja {

namespace {

Value dict_get(Interpreter&, const Value& self, Arguments& args) {
  auto a = bind_arguments({"get", {"key", "default"}, 1}, args);
  require_hashable(a[0]);
  if (const Value* found = self.as_dict().find(a[0]); found != nullptr) return *found;
  return a[1].is_missing() ? Value::none() : std::move(a[1]);
}

template <ViewKind kView>
Value dict_view(Interpreter&, const Value& self, Arguments& args) {
  bind_arguments({"items", {}, 0}, args);
  return check_depth(Value::object(std::make_shared<DictViewObject>(self, kView)));
}

Value dict_copy(Interpreter&, const Value& self, Arguments& args) {
  bind_arguments({"copy", {}, 0}, args);
  return self;
}

Value dict_fromkeys(Interpreter& in, const Value&, Arguments& args) {
  const auto a = bind_arguments({"fromkeys", {"iterable", "value"}, 1}, args);
  std::vector<std::pair<Value, Value>> entries;
  for (Value& key : in.to_vector(a[0])) entries.emplace_back(std::move(key), a[1].is_missing() ? Value::none() : a[1]);
  return new_dict(std::move(entries));
}

Value sequence_count(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"count", {"value"}, 1}, args);
  int64_t n = 0;
  for (const Value& item : self.items()) n += equal(item, a[0], in.budget);
  return Value::integer(n);
}

Value sequence_index(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"index", {"value", "start", "stop"}, 1}, args);
  const auto n = static_cast<int64_t>(self.items().size());
  const auto bound = [&](const Value& v, int64_t absent) {
    if (v.is_missing()) return absent;
    const int64_t i = whole_number(v, "");
    return i < 0 ? (i < -n ? 0 : i + n) : std::min(i, n);
  };
  const int64_t stop = bound(a[2], n);
  for (int64_t i = bound(a[1], 0); i < stop; ++i) {
    if (equal(self.items()[static_cast<size_t>(i)], a[0], in.budget)) return Value::integer(i);
  }
  if (self.is(Kind::tuple)) raise("ValueError", "tuple.index(x): x not in tuple");
  raise("ValueError", "{} is not in list", repr(a[0], in.budget));
}

Value list_copy(Interpreter& in, const Value& self, Arguments& args) {
  bind_arguments({"copy", {}, 0}, args);
  return new_list(in.to_vector(self));
}

Value list_pop(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"pop", {"index"}, 0}, args);
  auto& items = self.get<ListObject>().items;
  const auto n = static_cast<int64_t>(items.size());
  int64_t i = a[0].is_missing() ? -1 : whole_number(a[0], "");
  if (n == 0) raise("IndexError", "pop from empty list");
  if (i < 0) i += n;
  if (i < 0 || i >= n) raise("IndexError", "pop index out of range");
  in.budget.charge(1 + static_cast<uint64_t>(n - i) / 8);
  Value out = std::move(items[static_cast<size_t>(i)]);
  items.erase(items.begin() + i);
  return out;
}

Value list_clear(Interpreter&, const Value& self, Arguments& args) {
  bind_arguments({"clear", {}, 0}, args);
  self.get<ListObject>().items.clear();
  return Value::none();
}

Value range_count(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"count", {"value"}, 1}, args);
  return Value::integer(in.contains(a[0], self) ? 1 : 0);
}

Value range_index(Interpreter& in, const Value& self, Arguments& args) {
  const auto a = bind_arguments({"index", {"value"}, 1}, args);
  const auto it = in.iterate(self);
  int64_t i = 0;
  for (Value v; it->next(in, v); ++i) {
    if (equal(v, a[0], in.budget)) return Value::integer(i);
  }
  raise("ValueError", "{} is not in range", repr(a[0], in.budget));
}

}  // namespace

Method find_range_method(std::string_view name) {
  if (name == "count") return &range_count;
  return name == "index" ? &range_index : nullptr;
}

Method find_dict_method(std::string_view name) {
  static const std::unordered_map<std::string_view, Method> kMethods = {
      {"get", &dict_get},
      {"items", &dict_view<ViewKind::items>},
      {"keys", &dict_view<ViewKind::keys>},
      {"values", &dict_view<ViewKind::values>},
      {"copy", &dict_copy},
      {"fromkeys", &dict_fromkeys},
  };
  const auto at = kMethods.find(name);
  return at == kMethods.end() ? nullptr : at->second;
}

Method find_sequence_method(std::string_view name, bool is_list) {
  if (name == "count") return &sequence_count;
  if (name == "index") return &sequence_index;
  if (!is_list) return nullptr;
  if (name == "copy") return &list_copy;
  if (name == "pop") return &list_pop;
  if (name == "clear") return &list_clear;
  return nullptr;
}

}  // namespace ridge::jinja
