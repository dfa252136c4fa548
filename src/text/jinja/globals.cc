// The functions every template can call: Jinja2's own and the two that the transformers library adds.
#include <unordered_map>

#include "text/jinja/filters.h"

namespace ridge::jinja {

namespace {

constexpr int64_t kMaxRange = 100'000;  // Jinja2's sandbox has the same

int64_t range_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const uint64_t span = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                 : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  const uint64_t n = (span - 1) / stride + 1;
  return n > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(n);
}

Value make_range(Interpreter&, Arguments& args) {
  if (!args.named.empty()) raise("TypeError", "range() takes no keyword arguments");
  const size_t n_args = args.positional.size();
  if (n_args == 0) raise("TypeError", "range expected at least 1 argument, got 0");
  if (n_args > 3) raise("TypeError", "range expected at most 3 arguments, got {}", n_args);
  int64_t numbers[3] = {0, 0, 1};
  for (size_t i = 0; i < n_args; ++i) numbers[n_args == 1 ? 1 : i] = whole_number(args.positional[i], "");
  if (numbers[2] == 0) raise("ValueError", "range() arg 3 must not be zero");
  const int64_t n = range_length(numbers[0], numbers[1], numbers[2]);
  if (n > kMaxRange) {
    raise("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", kMaxRange);
  }
  return Value::object(std::make_shared<RangeObject>(numbers[0], numbers[1], numbers[2], n));
}

// dict(mapping or pairs, key=value, ...)
std::vector<std::pair<Value, Value>> dict_entries(Interpreter& in, Arguments& args) {
  std::vector<std::pair<Value, Value>> entries;
  if (args.positional.size() > 1)
    raise("TypeError", "dict expected at most 1 argument, got {}", args.positional.size());
  if (!args.positional.empty()) {
    const Value& from = args.positional[0];
    if (from.is_undefined()) raise_undefined(from);
    if (from.is(Kind::dict)) {
      in.budget.charge(from.as_dict().entries.size());
      entries = from.as_dict().entries;
    } else {
      size_t i = 0;
      for (const Value& pair : in.to_vector(from)) {
        if (!in.is_iterable(pair))
          raise("TypeError", "cannot convert dictionary update sequence element #{} to a sequence", i);
        std::vector<Value> parts = in.to_vector(pair);
        if (parts.size() != 2) {
          raise("ValueError", "dictionary update sequence element #{} has length {}; 2 is required", i, parts.size());
        }
        entries.emplace_back(std::move(parts[0]), std::move(parts[1]));
        ++i;
      }
    }
  }
  for (auto& [name, value] : args.named) entries.emplace_back(Value::trusted_string(name), std::move(value));
  return entries;
}

Value make_dict(Interpreter& in, Arguments& args) {
  return new_dict(dict_entries(in, args));
}

Value make_namespace(Interpreter& in, Arguments& args) {
  auto ns = std::make_shared<NamespaceObject>();
  for (auto& [key, value] : dict_entries(in, args)) {
    require_hashable(key);
    ns->set(key.is_string() ? key.bytes() : repr(key, in.budget), std::move(value));
  }
  in.budget.charge(4);
  in.track(ns);
  return Value::object(std::move(ns));
}

Value make_cycler(Interpreter&, Arguments& args) {
  if (args.positional.empty()) raise("RuntimeError", "at least one item has to be provided");
  uint32_t depth = 0;
  for (const Value& v : args.positional) depth = std::max(depth, v.depth());
  return check_depth(Value::object(std::make_shared<CyclerObject>(std::move(args.positional), depth + 1)));
}

Value make_joiner(Interpreter&, Arguments& args) {
  const auto a = bind_arguments({"__init__", {"sep"}, 0}, args);
  return check_depth(
      Value::object(std::make_shared<JoinerObject>(a[0].is_missing() ? Value::trusted_string(", ") : a[0])));
}

Value raise_exception(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"raise_exception", {"message"}, 1}, args);
  raise("TemplateError", "{}", in.text_of(a[0]).bytes());
}

Value strftime_now(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"strftime_now", {"format"}, 1}, args);
  const MarkedText& format = string_argument(a[0], "strftime() argument 1");
  in.budget.make_bytes(format.size() * 16);
  const CivilTime now = in.options().now ? *in.options().now : local_time();
  return Value::string(MarkedText(format_time(format.view(), now), format.all_trusted()));
}

Value refuse_lipsum(Interpreter&, Arguments&) {
  raise("NotImplementedError", "lipsum() is not supported: a prompt must not depend on chance");
}

}  // namespace

Builtin find_global(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kGlobals = {
      {"range", &make_range},         {"dict", &make_dict},
      {"namespace", &make_namespace}, {"cycler", &make_cycler},
      {"joiner", &make_joiner},       {"raise_exception", &raise_exception},
      {"lipsum", &refuse_lipsum},     {"strftime_now", &strftime_now},
  };
  const auto at = kGlobals.find(name);
  return at == kGlobals.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
