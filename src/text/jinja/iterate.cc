// Python's iter() and len() over every kind of value.
#include "text/jinja/interpreter.h"
#include "text/jinja/unicode.h"

namespace ridge::jinja {

namespace {

class SequenceIterator final : public Iterator {
 public:
  explicit SequenceIterator(Value v) : sequence_(std::move(v)) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.charge(1);
    const auto& items = sequence_.items();  // asked for each time: pop() may have shortened it
    if (at_ >= items.size()) return false;
    out = items[at_++];
    return true;
  }

 private:
  const Value sequence_;
  size_t at_ = 0;
};

class CharIterator final : public Iterator {
 public:
  explicit CharIterator(Value v) : string_(std::move(v)) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.make_object();
    const MarkedText& text = string_.text();
    if (at_ >= text.size()) return false;
    const size_t n = utf8_read(text.view(), at_).n_bytes;
    out = Value::string(text.slice(at_, n));
    at_ += n;
    return true;
  }

 private:
  const Value string_;
  size_t at_ = 0;
};

class DictIterator final : public Iterator {
 public:
  DictIterator(Value dict, ViewKind view) : view_(std::move(dict), view) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.charge(view_.view == ViewKind::items ? 16 : 1);
    if (at_ >= view_.size()) return false;
    out = view_.at(at_++);
    return true;
  }

 private:
  const DictViewObject view_;
  size_t at_ = 0;
};

class RangeIterator final : public Iterator {
 public:
  explicit RangeIterator(const RangeObject& r) : start_(r.start), step_(r.step), length_(r.length) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.charge(1);
    if (at_ >= length_) return false;
    out = Value::integer(start_ + at_++ * step_);
    return true;
  }

 private:
  const int64_t start_, step_, length_;
  int64_t at_ = 0;
};

class EmptyIterator final : public Iterator {
 public:
  bool next(Interpreter&, Value&) override { return false; }
};

// A loop object is its own iterator, of (item, loop) pairs.
class LoopIterator final : public Iterator {
 public:
  explicit LoopIterator(Value loop) : loop_(std::move(loop)) {}
  bool next(Interpreter& in, Value& out) override {
    Value item;
    if (!in.advance(loop_.get<LoopObject>(), item)) return false;
    out = new_tuple({item, loop_});
    return true;
  }

 private:
  const Value loop_;
};

}  // namespace

bool Interpreter::is_iterable(const Value& v) const {
  switch (v.kind()) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
      return true;
    case Kind::object:
      break;
    default:
      return false;
  }
  switch (v.object()->kind) {
    case ObjectKind::range:
    case ObjectKind::dict_view:
    case ObjectKind::generator:
    case ObjectKind::reversed:
    case ObjectKind::loop:
      return true;
    default:
      return false;
  }
}

std::shared_ptr<Iterator> Interpreter::iterate(const Value& v) {
  budget.charge(1);
  switch (v.kind()) {
    case Kind::undefined:
      return std::make_shared<EmptyIterator>();
    case Kind::string:
      return std::make_shared<CharIterator>(v);
    case Kind::list:
    case Kind::tuple:
      return std::make_shared<SequenceIterator>(v);
    case Kind::dict:
      return std::make_shared<DictIterator>(v, ViewKind::keys);
    default:
      break;
  }
  if (!is_iterable(v)) raise("TypeError", "'{}' object is not iterable", type_name(v));
  switch (v.object()->kind) {
    case ObjectKind::range:
      return std::make_shared<RangeIterator>(v.get<RangeObject>());
    case ObjectKind::dict_view: {
      const auto& view = v.get<DictViewObject>();
      return std::make_shared<DictIterator>(view.dict, view.view);
    }
    case ObjectKind::loop:
      return std::make_shared<LoopIterator>(v);
    default:
      return v.get<GeneratorObject>().iterator;
  }
}

std::vector<Value> Interpreter::to_vector(const Value& v) {
  if (v.is(Kind::list) || v.is(Kind::tuple)) {
    budget.make_items(v.items().size());
    return v.items();
  }
  std::vector<Value> out;
  const auto it = iterate(v);
  for (Value item; it->next(*this, item);) {
    budget.make_items(1);
    out.push_back(std::move(item));
  }
  return out;
}

bool Interpreter::has_length(const Value& v) const {
  return is_iterable(v) && !v.is_object(ObjectKind::generator) && !v.is_object(ObjectKind::reversed);
}

int64_t Interpreter::length(const Value& v) {
  switch (v.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return static_cast<int64_t>(v.str().n_chars);
    case Kind::list:
    case Kind::tuple:
      return static_cast<int64_t>(v.items().size());
    case Kind::dict:
      return static_cast<int64_t>(v.as_dict().entries.size());
    default:
      break;
  }
  if (v.is_object(ObjectKind::range)) return v.get<RangeObject>().length;
  if (v.is_object(ObjectKind::dict_view)) return static_cast<int64_t>(v.get<DictViewObject>().size());
  if (v.is_object(ObjectKind::loop)) return loop_length(v.get<LoopObject>());
  raise("TypeError", "object of type '{}' has no len()", type_name(v));
}

Value Interpreter::generator(const Value& source, std::shared_ptr<Iterator> iterator, uint32_t more_depth) {
  const uint32_t depth = std::max(source.depth(), more_depth) + 1;
  return check_depth(
      Value::object(std::make_shared<GeneratorObject>(ObjectKind::generator, depth, std::move(iterator))));
}

}  // namespace ridge::jinja
