// Owns how values are built and how dictionaries find their keys. Long dictionaries are searched in sorted order, not
// by hash: nobody can choose keys that make a lookup slow.
#include "text/jinja/value.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "text/jinja/objects.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

constexpr size_t kSearchFromFront = 8;  // entries up to which a scan beats a binary search

uint32_t depth_over(const std::vector<Value>& items) {
  uint32_t depth = 0;
  for (const Value& v : items) depth = std::max(depth, v.depth());
  return depth + 1;
}

// Numbers, then strings, then the singletons, then tuples, then everything that is equal only to itself.
int rank(const Value& v) {
  switch (v.kind()) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return 0;
    case Kind::string:
      return 1;
    case Kind::none:
      return 2;
    case Kind::undefined:
      return 3;
    case Kind::tuple:
      return 4;
    default:
      return 5;
  }
}

int sign(int64_t a, int64_t b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

int compare_numbers(const Value& a, const Value& b) {
  if (a.is_whole() && b.is_whole()) return sign(a.as_int(), b.as_int());
  const double x = a.as_real(), y = b.as_real();
  if (a.is(Kind::real) == b.is(Kind::real)) return x < y ? -1 : x > y ? 1 : 0;
  // An integer against a float, exactly: above 2^53 a conversion would round.
  const bool real_first = a.is(Kind::real);
  const double r = real_first ? x : y;
  const int64_t i = real_first ? b.as_int() : a.as_int();
  int integer_to_real;
  if (r >= 9223372036854775808.0) {
    integer_to_real = -1;
  } else if (r < -9223372036854775808.0) {
    integer_to_real = 1;
  } else {
    const double whole = std::floor(r);
    integer_to_real = sign(i, static_cast<int64_t>(whole));
    if (integer_to_real == 0 && r > whole) integer_to_real = -1;
  }
  return real_first ? -integer_to_real : integer_to_real;
}

int compare_keys(const Value& a, const Value& b) {
  const int ra = rank(a), rb = rank(b);
  if (ra != rb) return ra < rb ? -1 : 1;
  switch (ra) {
    case 0: {
      const bool nan_a = a.is(Kind::real) && std::isnan(a.as_real()),
                 nan_b = b.is(Kind::real) && std::isnan(b.as_real());
      if (nan_a || nan_b) return nan_a == nan_b ? 0 : nan_a ? 1 : -1;
      return compare_numbers(a, b);
    }
    case 1: {
      const int c = a.bytes().compare(b.bytes());
      return c < 0 ? -1 : c > 0 ? 1 : 0;
    }
    case 4: {
      const auto& x = a.items();
      const auto& y = b.items();
      for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (const int c = compare_keys(x[i], y[i]); c != 0) return c;
      }
      return sign(static_cast<int64_t>(x.size()), static_cast<int64_t>(y.size()));
    }
    case 5: {
      const auto x = reinterpret_cast<uintptr_t>(a.object().get()), y = reinterpret_cast<uintptr_t>(b.object().get());
      return x < y ? -1 : x > y ? 1 : 0;
    }
    default:
      return 0;
  }
}

StringObject::StringObject(MarkedText t, bool m)
    : Object(ObjectKind::string), text(std::move(t)), n_chars(count_chars(text.view())), markup(m) {}

DictObject::DictObject(std::vector<std::pair<Value, Value>> list, uint32_t d)
    : Object(ObjectKind::dict, d), entries(std::move(list)) {
  if (entries.size() <= 1) return;
  // Sort, fold runs of one key into its first entry with the last one's value, drop the others.
  std::vector<uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return compare_keys(entries[a].first, entries[b].first) < 0; });
  std::vector<bool> dropped(entries.size());
  bool any = false;
  for (size_t i = 1, first = 0; i < order.size(); ++i) {
    if (compare_keys(entries[order[first]].first, entries[order[i]].first) != 0) {
      first = i;
      continue;
    }
    entries[order[first]].second = entries[order[i]].second;
    dropped[order[i]] = true;
    any = true;
  }
  if (any) {
    size_t to = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (dropped[i]) continue;
      if (to != i) entries[to] = std::move(entries[i]);
      ++to;
    }
    entries.resize(to);
    order.resize(to);
    std::iota(order.begin(), order.end(), 0U);
    if (to > kSearchFromFront) {
      std::sort(order.begin(), order.end(),
                [&](uint32_t a, uint32_t b) { return compare_keys(entries[a].first, entries[b].first) < 0; });
    }
  }
  if (entries.size() > kSearchFromFront) order_ = std::move(order);
}

const Value* DictObject::find(const Value& key) const {
  if (order_.empty()) {
    for (const auto& [k, v] : entries) {
      if (compare_keys(k, key) == 0) return &v;
    }
    return nullptr;
  }
  const auto at = std::lower_bound(order_.begin(), order_.end(), key,
                                   [&](uint32_t i, const Value& k) { return compare_keys(entries[i].first, k) < 0; });
  return at != order_.end() && compare_keys(entries[*at].first, key) == 0 ? &entries[*at].second : nullptr;
}

const Value* DictObject::find(std::string_view key) const {
  if (order_.empty()) {
    for (const auto& [k, v] : entries) {
      if (k.is_string() && k.bytes() == key) return &v;
    }
    return nullptr;
  }
  const auto before = [&](uint32_t i, std::string_view k) {
    const Value& entry = entries[i].first;
    return entry.is_string() ? std::string_view(entry.bytes()) < k : rank(entry) < 1;
  };
  const auto at = std::lower_bound(order_.begin(), order_.end(), key, before);
  if (at == order_.end()) return nullptr;
  const Value& found = entries[*at].first;
  return found.is_string() && found.bytes() == key ? &entries[*at].second : nullptr;
}

Value Value::string(MarkedText text, bool markup) {
  return of(Kind::string, std::make_shared<StringObject>(std::move(text), markup));
}

Value Value::list(std::vector<Value> items) {
  const uint32_t depth = depth_over(items);
  return of(Kind::list, std::make_shared<ListObject>(ObjectKind::list, std::move(items), depth));
}

Value Value::tuple(std::vector<Value> items) {
  const uint32_t depth = depth_over(items);
  return of(Kind::tuple, std::make_shared<ListObject>(ObjectKind::tuple, std::move(items), depth));
}

Value Value::dict(std::vector<std::pair<Value, Value>> entries) {
  uint32_t depth = 0;
  for (const auto& [k, v] : entries) depth = std::max({depth, k.depth(), v.depth()});
  return of(Kind::dict, std::make_shared<DictObject>(std::move(entries), depth + 1));
}

Value Value::object(std::shared_ptr<Object> object) {
  return of(Kind::object, std::move(object));
}

const StringObject& Value::str() const {
  assert(kind_ == Kind::string && "text of a value that is no string");
  return static_cast<const StringObject&>(*object_);
}
const MarkedText& Value::text() const {
  return str().text;
}
const std::string& Value::bytes() const {
  return str().text.bytes();
}
const std::vector<Value>& Value::items() const {
  assert((kind_ == Kind::list || kind_ == Kind::tuple) && "items of a value that is no sequence");
  return static_cast<const ListObject&>(*object_).items;
}
const DictObject& Value::as_dict() const {
  assert(kind_ == Kind::dict && "entries of a value that is no dict");
  return static_cast<const DictObject&>(*object_);
}

}  // namespace ridge::jinja
