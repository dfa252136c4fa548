// Filters over sequences. Those that Jinja2 writes as generators are lazy here too: an error inside shows when an item
// is asked for.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

bool flag(const Value& v) {
  return !v.is_missing() && truthy(v);
}

Value filter_length(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"len", {"obj"}, 1}, args);
  return Value::integer(in.length(a[0]));
}

Value filter_list(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_list", {"value"}, 1}, args);
  return new_list(in.to_vector(a[0]));
}

Value filter_first(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_first", {"seq"}, 1}, args);
  Value item;
  if (in.iterate(a[0])->next(in, item)) return item;
  return make_undefined_hint("No first item, sequence was empty.");
}

bool is_reversible(const Value& v) {
  return v.is_string() || v.is(Kind::list) || v.is(Kind::tuple) || v.is(Kind::dict) || v.is_undefined() ||
         v.is_object(ObjectKind::range) || v.is_object(ObjectKind::dict_view);
}

Value filter_last(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_last", {"seq"}, 1}, args);
  if (!is_reversible(a[0])) raise("TypeError", "'{}' object is not reversible", type_name(a[0]));
  const int64_t n = in.length(a[0]);
  if (n == 0) return make_undefined_hint("No last item, sequence was empty.");
  if (a[0].is(Kind::dict)) return a[0].as_dict().entries.back().first;
  if (a[0].is_object(ObjectKind::dict_view)) return a[0].get<DictViewObject>().at(static_cast<size_t>(n - 1));
  return in.getitem(a[0], Value::integer(-1));
}

class ReverseIterator final : public Iterator {
 public:
  explicit ReverseIterator(std::vector<Value> items) : items_(std::move(items)) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.charge(1);
    if (items_.empty()) return false;
    out = std::move(items_.back());
    items_.pop_back();
    return true;
  }

 private:
  std::vector<Value> items_;
};

Value filter_reverse(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_reverse", {"value"}, 1}, args);
  if (a[0].is_string()) return in.slice(a[0], Value::none(), Value::none(), Value::integer(-1));
  if (!in.is_iterable(a[0])) raise("FilterArgumentError", "argument must be iterable");
  std::vector<Value> items = in.to_vector(a[0]);
  if (is_reversible(a[0])) {
    return check_depth(Value::object(std::make_shared<GeneratorObject>(
        ObjectKind::reversed, a[0].depth() + 1, std::make_shared<ReverseIterator>(std::move(items)))));
  }
  std::reverse(items.begin(), items.end());
  return new_list(std::move(items));
}

Value filter_join(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_join", {"value", "d", "attribute"}, 1}, args);
  const MarkedText separator = a[1].is_missing() ? MarkedText() : in.text_of(a[1]);
  std::vector<Value> items;
  const auto it = in.iterate(a[0]);
  const bool by_attribute = !a[2].is_missing() && !a[2].is_none();
  const AttributePath path(in, by_attribute ? a[2] : Value::none());
  for (Value item; it->next(in, item);) {
    if (by_attribute) item = path.get(in, item);
    items.push_back(item.is_string() ? std::move(item) : Value::string(in.text_of(item)));
  }
  return join(in, separator, items);
}

Value filter_sort(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_sort", {"value", "reverse", "case_sensitive", "attribute"}, 1}, args);
  std::vector<AttributePath> paths;
  if (a[3].is_string()) {
    const std::string& names = a[3].bytes();
    for (size_t at = 0; at <= names.size();) {
      const size_t comma = std::min(names.find(',', at), names.size());
      paths.emplace_back(in, Value::trusted_string(names.substr(at, comma - at)));
      at = comma + 1;
    }
  } else {
    paths.emplace_back(in, a[3].is_missing() ? Value::none() : a[3]);
  }
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& item : in.to_vector(a[0])) {
    std::vector<Value> key;
    for (const AttributePath& path : paths) key.push_back(fold_key(in, path.get(in, item), flag(a[2])));
    keyed.emplace_back(new_list(std::move(key)), std::move(item));
  }
  sort_values(in, keyed, flag(a[1]));
  std::vector<Value> out;
  for (auto& entry : keyed) out.push_back(std::move(entry.second));
  return new_list(std::move(out));
}

Value filter_dictsort(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_dictsort", {"value", "case_sensitive", "by", "reverse"}, 1}, args);
  const std::string by = a[2].is_missing() ? "key" : in.text_of(a[2]).bytes();
  if (by != "key" && by != "value") raise("FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
  if (a[0].is_undefined()) raise_undefined(a[0]);
  if (!a[0].is(Kind::dict)) raise("AttributeError", "'{}' object has no attribute 'items'", type_name(a[0]));
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& [key, value] : a[0].as_dict().entries) {
    keyed.emplace_back(fold_key(in, by == "key" ? key : value, flag(a[1])), new_tuple({key, value}));
  }
  sort_values(in, keyed, flag(a[3]));
  std::vector<Value> out;
  for (auto& entry : keyed) out.push_back(std::move(entry.second));
  return new_list(std::move(out));
}

template <bool kMax>
Value filter_extreme(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({kMax ? "do_max" : "do_min", {"value", "case_sensitive", "attribute"}, 1}, args);
  const AttributePath path(in, a[2].is_missing() ? Value::none() : a[2]);
  const auto it = in.iterate(a[0]);
  Value best, best_key;
  for (Value item; it->next(in, item);) {
    Value key = fold_key(in, path.get(in, item), flag(a[1]));
    if (best.is_missing() || ordered(key, best_key, kMax ? ">" : "<", in.budget)) {
      best = std::move(item);
      best_key = std::move(key);
    }
  }
  return best.is_missing() ? make_undefined_hint("No aggregated item, sequence was empty.") : best;
}

Value filter_sum(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_sum", {"iterable", "attribute", "start"}, 1}, args);
  Value total = a[2].is_missing() ? Value::integer(0) : a[2];
  if (total.is_string()) raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  const AttributePath path(in, a[1].is_missing() ? Value::none() : a[1]);
  const auto it = in.iterate(a[0]);
  for (Value item; it->next(in, item);) total = in.binary(Op::add, total, path.get(in, item));
  return total;
}

class KeyLess {
 public:
  bool operator()(const Value& a, const Value& b) const { return compare_keys(a, b) < 0; }
};

class UniqueIterator final : public Iterator {
 public:
  UniqueIterator(Value source, AttributePath path, bool case_sensitive)
      : source_(std::move(source)), path_(std::move(path)), case_sensitive_(case_sensitive) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.check_stack();
    if (it_ == nullptr) it_ = in.iterate(source_);
    while (it_->next(in, out)) {
      Value key = fold_key(in, path_.get(in, out), case_sensitive_);
      require_hashable(key);
      if (seen_.insert(std::move(key)).second) return true;
    }
    return false;
  }

 private:
  const Value source_;
  const AttributePath path_;
  const bool case_sensitive_;
  std::shared_ptr<Iterator> it_;
  std::set<Value, KeyLess> seen_;
};

Value filter_unique(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_unique", {"value", "case_sensitive", "attribute"}, 1}, args);
  AttributePath path(in, a[2].is_missing() ? Value::none() : a[2]);
  return in.generator(a[0], std::make_shared<UniqueIterator>(a[0], std::move(path), flag(a[1])));
}

// batch and slice: lists of so many items, or so many lists.
class BatchIterator final : public Iterator {
 public:
  BatchIterator(Value source, Value size, Value fill, bool slices)
      : source_(std::move(source)), size_(std::move(size)), fill_(std::move(fill)), slices_(slices) {}

  bool next(Interpreter& in, Value& out) override {
    in.budget.check_stack();
    in.budget.charge(1);
    return slices_ ? next_slice(in, out) : next_batch(in, out);
  }

 private:
  bool has_fill() const { return !fill_.is_missing() && !fill_.is_none(); }

  bool next_batch(Interpreter& in, Value& out) {
    if (it_ == nullptr) it_ = in.iterate(source_);
    std::vector<Value> batch;
    if (!held_.is_missing()) batch.push_back(std::move(held_));
    held_ = Value();
    for (Value item; it_->next(in, item);) {
      if (equal(Value::integer(static_cast<int64_t>(batch.size())), size_, in.budget)) {
        // As Jinja2: a batch of size 0 is handed out empty before the first item.
        held_ = std::move(item);
        out = new_list(std::move(batch));
        return true;
      }
      batch.push_back(std::move(item));
    }
    if (batch.empty()) return false;
    if (has_fill()) {
      const int64_t size = whole_number(size_, "");
      while (static_cast<int64_t>(batch.size()) < size) {
        in.budget.charge(1);
        batch.push_back(fill_);
      }
    }
    out = new_list(std::move(batch));
    return true;
  }

  bool next_slice(Interpreter& in, Value& out) {
    if (it_ == nullptr) {
      it_ = in.iterate(source_);
      for (Value item; it_->next(in, item);) items_.push_back(std::move(item));
      n_ = whole_number(size_, "");
      if (n_ == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
    }
    if (at_ >= n_) return false;
    const auto length = static_cast<int64_t>(items_.size());
    const int64_t each = length / n_, extra = length % n_;
    const int64_t begin = offset_ + at_ * each;
    if (at_ < extra) ++offset_;
    const int64_t end = offset_ + (at_ + 1) * each;
    in.budget.charge(static_cast<uint64_t>(end - begin));
    std::vector<Value> slice(items_.begin() + begin, items_.begin() + end);
    if (has_fill() && at_ >= extra) slice.push_back(fill_);
    ++at_;
    out = new_list(std::move(slice));
    return true;
  }

  const Value source_, size_, fill_;
  const bool slices_;
  std::shared_ptr<Iterator> it_;
  Value held_;
  std::vector<Value> items_;
  int64_t n_ = 0, at_ = 0, offset_ = 0;
};

template <bool kSlices>
Value filter_batch(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments(
      {kSlices ? "do_slice" : "do_batch", {"value", kSlices ? "slices" : "linecount", "fill_with"}, 2}, args);
  return in.generator(a[0], std::make_shared<BatchIterator>(a[0], a[1], a[2], kSlices), a[2].depth());
}

Value filter_groupby(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_groupby", {"value", "attribute", "default", "case_sensitive"}, 2}, args);
  const AttributePath path(in, a[1]);
  const Value fallback = a[2].is_none() ? Value() : a[2];
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& item : in.to_vector(a[0])) {
    Value key = fold_key(in, path.get(in, item, fallback), flag(a[3]));
    keyed.emplace_back(std::move(key), std::move(item));
  }
  sort_values(in, keyed, false);
  std::vector<Value> groups;
  for (size_t i = 0; i < keyed.size();) {
    size_t end = i;
    std::vector<Value> items;
    while (end < keyed.size() && equal(keyed[end].first, keyed[i].first, in.budget))
      items.push_back(keyed[end++].second);
    const Value key = flag(a[3]) ? keyed[i].first : path.get(in, items[0], fallback);
    Value group = new_tuple({key, new_list(std::move(items))});
    group.get<ListObject>().grouped = true;
    groups.push_back(std::move(group));
    i = end;
  }
  return new_list(std::move(groups));
}

class ItemsIterator final : public Iterator {
 public:
  explicit ItemsIterator(Value source) : source_(std::move(source)) {}
  bool next(Interpreter& in, Value& out) override {
    if (it_ == nullptr) {
      if (source_.is_undefined()) return false;
      if (!source_.is(Kind::dict)) raise("TypeError", "Can only get item pairs from a mapping.");
      it_ = in.iterate(Value::object(std::make_shared<DictViewObject>(source_, ViewKind::items)));
    }
    return it_->next(in, out);
  }

 private:
  const Value source_;
  std::shared_ptr<Iterator> it_;
};

Value filter_items(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"do_items", {"value"}, 1}, args);
  return in.generator(a[0], std::make_shared<ItemsIterator>(a[0]));
}

Value refuse_random(Interpreter&, Arguments&) {
  raise("NotImplementedError", "the filter 'random' is not supported: a prompt must not depend on chance");
}

}  // namespace

Builtin find_sequence_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kFilters = {
      {"length", &filter_length},      {"count", &filter_length},       {"list", &filter_list},
      {"first", &filter_first},        {"last", &filter_last},          {"reverse", &filter_reverse},
      {"join", &filter_join},          {"sort", &filter_sort},          {"dictsort", &filter_dictsort},
      {"min", &filter_extreme<false>}, {"max", &filter_extreme<true>},  {"sum", &filter_sum},
      {"unique", &filter_unique},      {"batch", &filter_batch<false>}, {"slice", &filter_batch<true>},
      {"groupby", &filter_groupby},    {"items", &filter_items},        {"random", &refuse_random},
  };
  const auto at = kFilters.find(name);
  return at == kFilters.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
