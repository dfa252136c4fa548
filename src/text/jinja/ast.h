// The parsed template: plain nodes, immutable once chat_template.cc has bound them, so that any thread may render.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/jinja/objects.h"

namespace ridge::jinja {

// Where a name lives: the frame `level` steps of static nesting deep, and the slot in it.
struct SlotRef {
  uint32_t level = 0;
  uint32_t slot = 0;
};

// What a frame puts into a slot when it is entered.
enum class LoadAction : uint8_t { parameter, resolve, alias, undefined };

struct Load {
  LoadAction action = LoadAction::undefined;
  uint32_t context_name = 0;  // resolve: index into Template::context_names
  SlotRef outer;              // alias: the slot whose value is taken over
};

// The static part of a scope: a template, loop body, macro, with, set or filter block.
struct FrameInfo {
  uint32_t level = 0;
  std::vector<std::string> names;  // of the slots
  std::vector<Load> loads;         // one a slot
  bool has_closure = false;        // a macro or recursive loop may keep this frame alive
};

enum class ExprKind : uint8_t {
  constant,
  name,
  list,
  tuple,
  dict,
  getattr,
  getitem,
  slice,
  call,
  filter,
  test,
  not_,
  negative,
  positive,
  binary,
  and_,
  or_,
  compare,
  concat,
  conditional,
  namespace_target,
};

enum class Op : uint8_t { add, sub, mul, div, floordiv, mod, pow, eq, ne, lt, le, gt, ge, in, not_in };

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// Children by kind:
//   list, tuple, concat, and_, or_: the parts        dict: key, value, key, value, ...
//   getattr: object (text: the attribute)            getitem: object, key
//   slice: object, start, stop, step (each null)     conditional: test, then, else (null)
//   call: callee, then arguments                     filter, test: subject (null in a filter block), then arguments
//   binary, compare: first, then one operand for each of ops, applied from the left
//   namespace_target: none (slot: the namespace; text: the attribute)
// Arguments are the positional ones, one for each of keywords, then *args and **kwargs where there are any.
struct Expr {
  Expr(ExprKind k, int l) : kind(k), line(l) {}
  const ExprKind kind;
  const int line;
  uint32_t depth = 1;
  std::vector<ExprPtr> kids;
  std::vector<Op> ops;
  std::vector<std::string> keywords;
  bool has_star = false, has_double_star = false;
  Value value;                 // constant
  std::string text;            // names
  SlotRef slot;                // name, namespace_target
  Builtin function = nullptr;  // filter, test
};

enum class StmtKind : uint8_t {
  data,
  output,
  set,
  set_block,
  for_,
  if_,
  macro,
  call_block,
  generation,
  filter_block,
  with,
  block,
  break_,
  continue_,
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Branch {
  ExprPtr test;  // null: else
  Body body;
};

struct Statement {
  Statement(StmtKind k, int l) : kind(k), line(l) {}
  const StmtKind kind;
  const int line;
  MarkedText data;               // data
  std::vector<ExprPtr> exprs;    // output: what to print; with: the values; macro, call_block: the defaults
  std::vector<ExprPtr> targets;  // set, for_: one; with: the names; macro, call_block: the parameters
  ExprPtr expr;  // set: the value; for_: what to walk; call_block: the call; filter_block, set_block: the filter
  ExprPtr test;  // for_: the `if`
  Body body, else_body;
  std::vector<Branch> branches;  // if_
  std::string name;              // macro, block
  bool recursive = false;
  // Filled by bind.cc.
  FrameInfo frame, else_frame, test_frame;
  SlotRef slot;        // macro: where it is stored
  int loop_slot = -1;  // for_: where `loop` lives, if the body asks for it
  int caller_slot = -1, kwargs_slot = -1,
      varargs_slot = -1;         // macro, call_block, generation: if the body asks for them
  bool explicit_caller = false;  // macro: `caller` is among the parameters
};

struct Template {
  Body body;
  FrameInfo frame;
  std::vector<std::string> context_names;  // variables and globals that the template asks for
};

}  // namespace ridge::jinja
