// Walks a bound template once. One object a render, on one thread; the template and the variables are only read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/budget.h"
#include "text/jinja/chat_template.h"
#include "text/jinja/objects.h"

namespace ridge::jinja {

struct Frame {
  std::shared_ptr<Frame> parent;  // shared: macros keep the frames they were defined in
  const FrameInfo* info = nullptr;
  std::vector<Value> slots;
};
using FramePtr = std::shared_ptr<Frame>;

enum class Flow : uint8_t { normal, break_, continue_ };

class Interpreter {
 public:
  Interpreter(const Template& tmpl, const Value& variables, const RenderOptions& options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  MarkedText run();
  int line() const { return line_; }
  const RenderOptions& options() const { return options_; }

  Budget budget;

  // eval.cc
  Value eval(const Expr& e, Frame& frame);
  Arguments eval_arguments(const Expr& e, Frame& frame, size_t first);

  // operators.cc
  Value binary(Op op, const Value& a, const Value& b);
  bool compare(Op op, const Value& a, const Value& b);
  bool contains(const Value& item, const Value& container);
  Value negate(const Value& v, bool minus);
  Value concat(const Value& a, const Value& b);

  // lookup.cc: Jinja2's foo.bar and foo[bar], and slices
  Value getattr(const Value& object, const Value& name);
  Value getitem(const Value& object, const Value& key);
  Value slice(const Value& object, const Value& start, const Value& stop, const Value& step);
  Value char_at(const Value& string, size_t char_idx);
  // An attribute that Python's getattr would find; missing: none.
  Value attribute(const Value& object, std::string_view name);

  // call.cc
  Value call(const Value& callee, Arguments& args);
  Value call_macro(const MacroObject& macro, Arguments& args);
  Value call_loop(const std::shared_ptr<Object>& loop, Arguments& args);
  Value call_filter(std::string_view name, Arguments& args);
  bool call_test(std::string_view name, Arguments& args);

  // iterate.cc: Python's iter() and what builds on it
  std::shared_ptr<Iterator> iterate(const Value& v);
  bool is_iterable(const Value& v) const;
  std::vector<Value> to_vector(const Value& v);
  int64_t length(const Value& v);  // Python's len(); TypeError for what has none
  bool has_length(const Value& v) const;
  Value generator(const Value& source, std::shared_ptr<Iterator> iterator, uint32_t more_depth = 0);

  // loop.cc
  bool advance(LoopObject& loop, Value& item);
  int64_t loop_length(LoopObject& loop);
  Value peek(LoopObject& loop);
  Value loop_attribute(const Value& loop, std::string_view name);
  void run_loop(const Statement& s, const FramePtr& frame, const Value& sequence, int64_t depth0, MarkedText& out,
                Flow& flow);

  // exec.cc
  Flow exec(const Body& body, const FramePtr& frame, MarkedText& out);
  void assign(const Expr& target, Value value, Frame& frame);
  FramePtr new_frame(const FrameInfo& info, FramePtr parent);
  void enter(Frame& frame);
  void emit(MarkedText& out, const MarkedText& text);
  MarkedText text_of(const Value& v);

  // Objects that a template can make to hold themselves; their insides are cleared when the render ends.
  void track(std::shared_ptr<Object> object) { tracked_.push_back(std::move(object)); }
  void set_line(int line) { line_ = line; }

 private:
  friend struct DepthGuard;

  Value context_value(uint32_t name_idx);
  Flow exec_statement(const Statement& s, const FramePtr& frame, MarkedText& out);
  void exec_set(const Statement& s, Frame& frame);
  Flow exec_set_block(const Statement& s, const FramePtr& frame);
  Flow exec_captured(const Statement& s, const FramePtr& frame, Value& result);
  Flow exec_filter_block(const Statement& s, const FramePtr& frame, MarkedText& out);
  Flow exec_if(const Statement& s, const FramePtr& frame, MarkedText& out);
  Flow exec_with(const Statement& s, const FramePtr& frame, MarkedText& out);
  Flow exec_for(const Statement& s, const FramePtr& frame, MarkedText& out);
  void exec_call_block(const Statement& s, const FramePtr& frame, MarkedText& out);
  void exec_block(const Statement& s, MarkedText& out);

  Value eval_name(const Expr& e, Frame& frame);
  Value eval_items(const Expr& e, Frame& frame);
  Value eval_dict(const Expr& e, Frame& frame);
  Value eval_slice(const Expr& e, Frame& frame);
  Value eval_call(const Expr& e, Frame& frame);
  Value eval_filter(const Expr& e, Frame& frame, const Value* subject);
  Value eval_test(const Expr& e, Frame& frame);
  Value eval_logic(const Expr& e, Frame& frame);
  Value eval_compare(const Expr& e, Frame& frame);
  Value eval_binary(const Expr& e, Frame& frame);
  Value eval_concat(const Expr& e, Frame& frame);
  Value eval_conditional(const Expr& e, Frame& frame);

  Value arithmetic(Op op, const Value& a, const Value& b);
  Value repeat(const Value& sequence, int64_t times);
  [[noreturn]] void raise_operands(Op op, const Value& a, const Value& b);

  const Template& tmpl_;
  const Value variables_;
  const RenderOptions& options_;
  FramePtr root_;
  std::vector<Value> context_cache_;
  std::vector<std::shared_ptr<Object>> tracked_;
  std::vector<FramePtr> tracked_frames_;
  uint32_t macro_depth_ = 0;
  int line_ = 0;
};

// Counts one level of macros for as long as it lives.
struct DepthGuard {
  explicit DepthGuard(Interpreter& i) : in(i) {
    in.budget.check_stack();
    if (in.macro_depth_ >= in.budget.limits().macro_depth) raise("RecursionError", "maximum recursion depth exceeded");
    ++in.macro_depth_;
  }
  ~DepthGuard() { --in.macro_depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  Interpreter& in;
};

// What a filter, test, function or method takes. bind_arguments puts named arguments into their places; what was not
// given is missing. Messages are worded as Python words them.
struct Signature {
  std::string_view name;
  std::vector<std::string_view> parameters;
  size_t n_required = 0;
};
std::vector<Value> bind_arguments(const Signature& signature, Arguments& args);

// Checked readings of arguments.
int64_t whole_number(const Value& v, const char* what);
// The text of a string argument; TypeError otherwise.
const MarkedText& string_argument(const Value& v, std::string_view function);

Builtin find_global(std::string_view name);
Method find_string_method(std::string_view name);
Method find_dict_method(std::string_view name);
Method find_sequence_method(std::string_view name, bool is_list);
Method find_range_method(std::string_view name);

}  // namespace ridge::jinja
