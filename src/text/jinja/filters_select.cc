// map, select and their kin, attr and default; and how all filters read attribute="a.b.0".
#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

uint32_t depth_of(const Arguments& args) {
  uint32_t depth = 0;
  for (const Value& v : args.positional) depth = std::max(depth, v.depth());
  for (const auto& named : args.named) depth = std::max(depth, named.second.depth());
  return depth;
}

// The name of a filter or test, given as a value.
std::string callable_name(const Value& v, const char* what) {
  if (v.is_string()) return v.bytes();
  if (v.is_undefined()) {
    try {
      raise_undefined(v);
    } catch (const Failure& failure) {
      raise("TemplateRuntimeError", "No {} named Undefined. ({}; did you forget to quote the callable name?)", what,
            failure.message);
    }
  }
  raise("TemplateRuntimeError", "No {} named {}.", what, type_name(v));
}

class MapIterator final : public Iterator {
 public:
  explicit MapIterator(Arguments args) : args_(std::move(args)) {}

  bool next(Interpreter& in, Value& out) override {
    in.budget.check_stack();
    if (it_ == nullptr) {
      const Value& source = args_.positional[0];
      if (!truthy(source)) return false;
      prepare(in);
      it_ = in.iterate(source);
    }
    Value item;
    if (!it_->next(in, item)) return false;
    if (path_) {
      out = path_->get(in, std::move(item), fallback_);
      return true;
    }
    Arguments args;
    args.positional.push_back(std::move(item));
    args.positional.insert(args.positional.end(), args_.positional.begin() + 2, args_.positional.end());
    args.named = args_.named;
    in.budget.make_object();
    in.budget.charge(args.positional.size() + args.named.size());
    out = in.call_filter(name_, args);
    return true;
  }

 private:
  void prepare(Interpreter& in) {
    const auto attribute =
        std::find_if(args_.named.begin(), args_.named.end(), [](const auto& a) { return a.first == "attribute"; });
    if (args_.positional.size() == 1 && attribute != args_.named.end()) {
      for (const auto& [name, value] : args_.named) {
        if (name == "default") {
          if (!value.is_none()) fallback_ = value;
        } else if (name != "attribute") {
          raise("FilterArgumentError", "Unexpected keyword argument {}", repr_of_string(name));
        }
      }
      path_.emplace(in, attribute->second);
      return;
    }
    if (args_.positional.size() == 1) raise("FilterArgumentError", "map requires a filter argument");
    name_ = callable_name(args_.positional[1], "filter");
  }

  const Arguments args_;
  std::optional<AttributePath> path_;
  Value fallback_;
  std::string name_;
  std::shared_ptr<Iterator> it_;
};

class SelectIterator final : public Iterator {
 public:
  SelectIterator(Arguments args, bool by_attribute, bool wanted)
      : args_(std::move(args)), by_attribute_(by_attribute), wanted_(wanted) {}

  bool next(Interpreter& in, Value& out) override {
    in.budget.check_stack();
    const size_t name_at = by_attribute_ ? 2 : 1;
    if (it_ == nullptr) {
      const Value& source = args_.positional[0];
      if (!truthy(source)) return false;
      if (by_attribute_) {
        if (args_.positional.size() < 2) raise("FilterArgumentError", "Missing parameter for attribute name");
        path_.emplace(in, args_.positional[1]);
      }
      has_test_ = args_.positional.size() > name_at;
      if (has_test_) name_ = callable_name(args_.positional[name_at], "test");
      it_ = in.iterate(source);
    }
    while (it_->next(in, out)) {
      Value subject = path_ ? path_->get(in, out) : out;
      bool holds = false;
      if (has_test_) {
        Arguments args;
        args.positional.push_back(std::move(subject));
        args.positional.insert(args.positional.end(), args_.positional.begin() + static_cast<int64_t>(name_at) + 1,
                               args_.positional.end());
        args.named = args_.named;
        in.budget.charge(args.positional.size() + args.named.size());
        holds = in.call_test(name_, args);
      } else {
        holds = truthy(subject);
      }
      if (holds == wanted_) return true;
    }
    return false;
  }

 private:
  const Arguments args_;
  const bool by_attribute_, wanted_;
  bool has_test_ = false;
  std::optional<AttributePath> path_;
  std::string name_;
  std::shared_ptr<Iterator> it_;
};

Value lazy(Interpreter& in, Arguments& args, std::shared_ptr<Iterator> (*make)(Arguments)) {
  if (args.positional.empty()) raise("TypeError", "missing 1 required positional argument: 'value'");
  const Value source = args.positional[0];
  const uint32_t depth = depth_of(args);
  return in.generator(source, make(std::move(args)), depth);
}

Value filter_map(Interpreter& in, Arguments& args) {
  return lazy(in, args,
              [](Arguments a) -> std::shared_ptr<Iterator> { return std::make_shared<MapIterator>(std::move(a)); });
}

template <bool kByAttribute, bool kWanted>
Value filter_select(Interpreter& in, Arguments& args) {
  return lazy(in, args, [](Arguments a) -> std::shared_ptr<Iterator> {
    return std::make_shared<SelectIterator>(std::move(a), kByAttribute, kWanted);
  });
}

Value filter_default(Interpreter&, Arguments& args) {
  auto a = bind_arguments({"do_default", {"value", "default_value", "boolean"}, 1}, args);
  const bool take = a[0].is_undefined() || (!a[2].is_missing() && truthy(a[2]) && !truthy(a[0]));
  if (!take) return a[0];
  return a[1].is_missing() ? Value::trusted_string("") : a[1];
}

Value filter_attr(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_attr", {"obj", "name"}, 2}, args);
  if (a[0].is_undefined()) raise_undefined(a[0]);
  if (!a[1].is_string()) raise("TypeError", "attribute name must be string, not '{}'", type_name(a[1]));
  Value found = in.attribute(a[0], a[1].bytes());
  return found.is_missing() ? make_undefined_of(a[0], a[1]) : found;
}

}  // namespace

AttributePath::AttributePath(Interpreter& in, const Value& attribute) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  const std::string& path = attribute.bytes();
  in.budget.make_bytes(path.size());
  for (size_t at = 0; at <= path.size();) {
    const size_t dot = std::min(path.find('.', at), path.size());
    const std::string part = path.substr(at, dot - at);
    int64_t number = 0;
    const auto r = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number = !part.empty() && part[0] != '-' && r.ec == std::errc() && r.ptr == part.data() + part.size();
    parts_.push_back(is_number ? Value::integer(number) : Value::trusted_string(part));
    at = dot + 1;
  }
}

Value AttributePath::get(Interpreter& in, Value item, const Value& fallback) const {
  for (const Value& part : parts_) {
    in.budget.charge(1);
    item = in.getitem(item, part);
    if (!fallback.is_missing() && item.is_undefined()) item = fallback;
  }
  return item;
}

Value fold_key(Interpreter& in, const Value& v, bool case_sensitive) {
  if (case_sensitive || !v.is_string()) return v;
  in.budget.make_bytes(v.text().size());
  if (!v.str().is_ascii()) in.budget.walk_chars(v.text().size());
  return Value::string(map_case(v.text(), Case::lower));
}

void sort_values(Interpreter& in, std::vector<std::pair<Value, Value>>& keyed, bool reverse) {
  const auto less = [&](const auto& a, const auto& b) { return ordered(a.first, b.first, "<", in.budget); };
  // Python keeps equal elements in their order when reversed, too.
  if (reverse) std::reverse(keyed.begin(), keyed.end());
  std::stable_sort(keyed.begin(), keyed.end(), less);
  if (reverse) std::reverse(keyed.begin(), keyed.end());
}

Builtin find_select_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kFilters = {
      {"map", &filter_map},
      {"select", &filter_select<false, true>},
      {"reject", &filter_select<false, false>},
      {"selectattr", &filter_select<true, true>},
      {"rejectattr", &filter_select<true, false>},
      {"default", &filter_default},
      {"d", &filter_default},
      {"attr", &filter_attr},
  };
  const auto at = kFilters.find(name);
  return at == kFilters.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
