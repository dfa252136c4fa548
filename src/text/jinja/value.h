// The values of the template language: Python's, as far as chat templates can see them. Immutable and shared, so a
// conversation can be rendered by several threads at once; what a template may change (namespaces, loops) lives in
// objects.h and never leaves a render. Integers have 64 bits (longer ones from JSON keep their digits and refuse
// arithmetic).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/jinja/marked_text.h"

namespace ridge::jinja {

enum class Kind : uint8_t {
  missing,    // no value: an empty slot, an argument not given. Templates never see it
  undefined,  // Jinja2's Undefined: prints as nothing, fails when used
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  dict,
  object,  // everything else: see ObjectKind
};

enum class ObjectKind : uint8_t {
  undefined,
  string,
  list,
  tuple,
  dict,
  big_integer,  // behind the kinds above
  range,
  dict_view,
  generator,
  reversed,
  name_space,
  macro,
  loop,
  method,
  function,
  cycler,
  joiner,
};

// What a value points to. depth is 1 + the deepest child's, limited by kMaxValueDepth: walks and destructors recurse.
struct Object {
  explicit Object(ObjectKind k, uint32_t d = 0) : kind(k), depth(d) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  const ObjectKind kind;
  const uint32_t depth;
};

inline constexpr uint32_t kMaxValueDepth = 300;

struct StringObject;
struct ListObject;
struct DictObject;

class Value {
 public:
  Value() = default;  // missing

  static Value none() { return Value(Kind::none); }
  static Value boolean(bool b) {
    Value v(Kind::boolean);
    v.int_ = b ? 1 : 0;
    return v;
  }
  static Value integer(int64_t i) {
    Value v(Kind::integer);
    v.int_ = i;
    return v;
  }
  static Value real(double d) {
    Value v(Kind::real);
    v.real_ = d;
    return v;
  }
  // Text of unknown origin (a conversation): control tokens in it are never recognised.
  static Value string(std::string utf8) { return string(MarkedText(std::move(utf8), false)); }
  // Text that counts as the template's own: bos_token and its like.
  static Value trusted_string(std::string utf8) { return string(MarkedText(std::move(utf8), true)); }
  static Value string(MarkedText text, bool markup = false);
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  // Later entries win over earlier ones of the same key, at the earlier one's place, as in Python.
  static Value dict(std::vector<std::pair<Value, Value>> entries);
  static Value object(std::shared_ptr<Object> object);
  static Value of(Kind kind, std::shared_ptr<Object> object) {
    Value v(kind);
    v.object_ = std::move(object);
    return v;
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::missing; }
  bool is_undefined() const { return kind_ == Kind::undefined; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_object(ObjectKind kind) const { return object_ != nullptr && object_->kind == kind; }
  bool is_whole() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }  // an int of Python: bool is one

  bool as_bool() const { return int_ != 0; }
  int64_t as_int() const { return int_; }  // integer and boolean
  double as_real() const { return kind_ == Kind::real ? real_ : static_cast<double>(int_); }
  const StringObject& str() const;          // string
  const MarkedText& text() const;           // string
  const std::string& bytes() const;         // string
  const std::vector<Value>& items() const;  // list and tuple
  const DictObject& as_dict() const;        // dict
  const std::shared_ptr<Object>& object() const { return object_; }
  template <class T>
  T& get() const {
    return static_cast<T&>(*object_);
  }
  uint32_t depth() const { return object_ == nullptr ? 0 : object_->depth; }

 private:
  explicit Value(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::missing;
  union {
    int64_t int_ = 0;
    double real_;
  };
  std::shared_ptr<Object> object_;  // shared: values are copied freely between variables, lists and threads
};

struct StringObject final : Object {
  StringObject(MarkedText t, bool m);
  const MarkedText text;
  const size_t n_chars;
  const bool markup;  // markupsafe.Markup: made by |escape and |safe
  bool is_ascii() const { return n_chars == text.size(); }
};

struct ListObject final : Object {
  ListObject(ObjectKind k, std::vector<Value> i, uint32_t d) : Object(k, d), items(std::move(i)) {}
  std::vector<Value> items;
  bool grouped = false;   // a tuple of |groupby, with attributes grouper and list
  bool private_ = false;  // made by the running template: pop() and clear() may change it
};

struct DictObject final : Object {
  DictObject(std::vector<std::pair<Value, Value>> entries, uint32_t d);
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  std::vector<std::pair<Value, Value>> entries;  // in order of insertion

 private:
  std::vector<uint32_t> order_;  // entries sorted by key, for dicts too long to be searched from the front
};

// An order over everything that Python can hash, equal exactly where Python says equal (1 == 1.0 == True). -1, 0, 1.
int compare_keys(const Value& a, const Value& b);

// Objects of JSON become dicts in the order of the text, integers stay integers. Strings are untrusted, except the
// well-known names of roles under a key "role", which templates join into control tokens. Depth is limited to 64.
Result<Value> value_from_json(std::string_view json);

}  // namespace ridge::jinja
