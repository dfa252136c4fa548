// The for statement and its `loop`. As in Jinja2 the sequence is walked lazily: loop.last and loop.nextitem look one
// item ahead, loop.length reads a generator to its end.
#include "text/jinja/interpreter.h"

namespace ridge::jinja {

namespace {

class VectorIterator final : public Iterator {
 public:
  explicit VectorIterator(std::vector<Value> items) : items_(std::move(items)) {}
  bool next(Interpreter& in, Value& out) override {
    in.budget.charge(1);
    if (at_ >= items_.size()) return false;
    out = items_[at_++];
    return true;
  }

 private:
  const std::vector<Value> items_;
  size_t at_ = 0;
};

// for ... if: hands on the items that pass. The test sees the target's names and what lies outside the loop.
class TestIterator final : public Iterator {
 public:
  TestIterator(const Statement& s, FramePtr frame, std::shared_ptr<Iterator> inner)
      : s_(s), frame_(std::move(frame)), inner_(std::move(inner)) {}

  bool next(Interpreter& in, Value& out) override {
    const FramePtr test = in.new_frame(s_.test_frame, frame_);
    while (inner_->next(in, out)) {
      in.enter(*test);
      in.assign(*s_.targets[0], out, *test);
      if (truthy(in.eval(*s_.test, *test))) return true;
    }
    return false;
  }

 private:
  const Statement& s_;
  const FramePtr frame_;
  const std::shared_ptr<Iterator> inner_;
};

Value loop_cycle(Interpreter&, const Value& self, Arguments& args) {
  if (args.positional.empty()) raise("TypeError", "no items for cycling given");
  const int64_t index0 = self.get<LoopObject>().index0;
  return args.positional[static_cast<size_t>(index0 < 0 ? 0 : index0) % args.positional.size()];
}

Value loop_changed(Interpreter& in, const Value& self, Arguments& args) {
  auto& loop = self.get<LoopObject>();
  Value now = new_tuple(std::move(args.positional));
  if (!loop.changed.is_missing() && equal(loop.changed, now, in.budget)) return Value::boolean(false);
  if (!loop.tracked) {  // it may now hold itself
    loop.tracked = true;
    in.track(self.object());
  }
  loop.changed = std::move(now);
  return Value::boolean(true);
}

}  // namespace

bool Interpreter::advance(LoopObject& loop, Value& item) {
  if (!loop.after.is_missing()) {
    item = std::move(loop.after);
    loop.after = Value();
  } else {
    // A copy: what next() evaluates may ask this very loop for its length, which puts another iterator in its place.
    const auto iterator = loop.iterator;
    if (!iterator->next(*this, item)) return false;
  }
  ++loop.index0;
  loop.before = std::move(loop.current);
  loop.current = item;
  return true;
}

Value Interpreter::peek(LoopObject& loop) {
  if (loop.after.is_missing()) {
    Value item;
    const auto iterator = loop.iterator;
    if (iterator->next(*this, item)) loop.after = std::move(item);
  }
  return loop.after;
}

int64_t Interpreter::loop_length(LoopObject& loop) {
  if (loop.length) return *loop.length;
  if (!loop.sequence.is_missing() && has_length(loop.sequence)) {
    loop.length = length(loop.sequence);
  } else {
    std::vector<Value> rest;
    const auto iterator = loop.iterator;
    for (Value item; iterator->next(*this, item);) rest.push_back(std::move(item));
    loop.length = static_cast<int64_t>(rest.size()) + loop.index0 + 1 + (loop.after.is_missing() ? 0 : 1);
    loop.iterator = std::make_shared<VectorIterator>(std::move(rest));
  }
  return *loop.length;
}

Value Interpreter::loop_attribute(const Value& v, std::string_view name) {
  auto& loop = v.get<LoopObject>();
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(peek(loop).is_missing());
  if (name == "length") return Value::integer(loop_length(loop));
  if (name == "revindex0") return Value::integer(loop_length(loop) - loop.index0 - 1);
  if (name == "revindex") return Value::integer(loop_length(loop) - loop.index0);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "previtem") return loop.index0 <= 0 ? make_undefined_hint("there is no previous item") : loop.before;
  if (name == "nextitem") {
    const Value next = peek(loop);
    return next.is_missing() ? make_undefined_hint("there is no next item") : next;
  }
  if (name == "cycle") return Value::object(std::make_shared<MethodObject>("cycle", v, &loop_cycle));
  if (name == "changed") return Value::object(std::make_shared<MethodObject>("changed", v, &loop_changed));
  return {};
}

void Interpreter::run_loop(const Statement& s, const FramePtr& frame, const Value& sequence, int64_t depth0,
                           MarkedText& out, Flow& flow) {
  budget.check_stack();
  line_ = s.line;
  std::shared_ptr<Iterator> iterator = iterate(sequence);
  if (s.test != nullptr) iterator = std::make_shared<TestIterator>(s, frame, std::move(iterator));
  std::shared_ptr<LoopObject> loop;
  if (s.loop_slot >= 0) {
    loop = std::make_shared<LoopObject>();
    if (s.test == nullptr) loop->sequence = sequence;
    loop->iterator = iterator;
    loop->depth0 = depth0;
    if (s.recursive) {
      loop->recursive = &s;
      loop->frame = frame;
    }
  }
  // Jinja2 runs the else branch unless some round came to its end: break and continue do not count.
  bool completed_a_round = false;
  FramePtr inner;
  for (Value item; loop != nullptr ? advance(*loop, item) : iterator->next(*this, item);) {
    budget.statement();
    if (inner == nullptr || s.frame.has_closure) inner = new_frame(s.frame, frame);
    enter(*inner);
    if (loop != nullptr) inner->slots[static_cast<size_t>(s.loop_slot)] = Value::object(loop);
    line_ = s.line;
    assign(*s.targets[0], std::move(item), *inner);
    item = Value();
    const Flow body = exec(s.body, inner, out);
    if (body == Flow::break_) break;
    if (body == Flow::normal) completed_a_round = true;
  }
  if (!completed_a_round && !s.else_body.empty()) {
    const FramePtr otherwise = new_frame(s.else_frame, frame);
    enter(*otherwise);
    flow = exec(s.else_body, otherwise, out);
  }
}

}  // namespace ridge::jinja
