// The tests behind `is`.
#include <unordered_map>

#include "text/jinja/bind.h"
#include "text/jinja/filters.h"
#include "text/jinja/string_queries.h"

namespace ridge::jinja {

namespace {

Value subject(Arguments& args) {
  return bind_arguments({"test", {"value"}, 1}, args)[0];
}

template <bool (*kHolds)(const Value&)>
Value simple(Interpreter&, Arguments& args) {
  return Value::boolean(kHolds(subject(args)));
}

bool is_defined(const Value& v) {
  return !v.is_undefined();
}
bool is_undefined(const Value& v) {
  return v.is_undefined();
}
bool is_none(const Value& v) {
  return v.is_none();
}
bool is_boolean(const Value& v) {
  return v.is(Kind::boolean);
}
bool is_true(const Value& v) {
  return v.is(Kind::boolean) && v.as_bool();
}
bool is_false(const Value& v) {
  return v.is(Kind::boolean) && !v.as_bool();
}
bool is_integer(const Value& v) {
  return v.is(Kind::integer) || v.is_object(ObjectKind::big_integer);
}
bool is_float(const Value& v) {
  return v.is(Kind::real);
}
bool is_string(const Value& v) {
  return v.is_string();
}
bool is_mapping(const Value& v) {
  return v.is(Kind::dict);
}
bool is_any_number(const Value& v) {
  return is_number(v) || v.is_object(ObjectKind::big_integer);
}
bool is_escaped(const Value& v) {
  return v.is_string() && v.str().markup;
}
bool is_sequence(const Value& v) {
  return v.is_string() || v.is(Kind::list) || v.is(Kind::tuple) || v.is(Kind::dict) || v.is_undefined() ||
         v.is_object(ObjectKind::range);
}
bool is_callable(const Value& v) {
  return v.is_undefined() || v.is_object(ObjectKind::function) || v.is_object(ObjectKind::method) ||
         v.is_object(ObjectKind::macro) || v.is_object(ObjectKind::loop) || v.is_object(ObjectKind::joiner);
}

Value test_iterable(Interpreter& in, Arguments& args) {
  return Value::boolean(in.is_iterable(subject(args)));
}

template <bool kLower>
Value test_case(Interpreter& in, Arguments& args) {
  const MarkedText text = in.text_of(subject(args));
  in.budget.walk_chars(text.size());
  return Value::boolean(every_cased_char_is(text.view(), kLower));
}

template <int kRest>
Value test_parity(Interpreter& in, Arguments& args) {
  return Value::boolean(equal(in.binary(Op::mod, subject(args), Value::integer(2)), Value::integer(kRest), in.budget));
}

Value test_divisibleby(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"test_divisibleby", {"value", "num"}, 2}, args);
  return Value::boolean(equal(in.binary(Op::mod, a[0], a[1]), Value::integer(0), in.budget));
}

template <Op kOp>
Value test_compare(Interpreter& in, Arguments& args) {
  const auto a = bind_arguments({"operator", {"a", "b"}, 2}, args);
  return Value::boolean(in.compare(kOp, a[0], a[1]));
}

Value test_sameas(Interpreter&, Arguments& args) {
  const auto a = bind_arguments({"test_sameas", {"value", "other"}, 2}, args);
  return Value::boolean(identical(a[0], a[1]));
}

template <Builtin (*kFind)(std::string_view)>
Value test_named(Interpreter&, Arguments& args) {
  const Value name = subject(args);
  require_hashable(name);
  return Value::boolean(name.is_string() && kFind(name.bytes()) != nullptr);
}

}  // namespace

Builtin find_test(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> kTests = {
      {"defined", &simple<is_defined>},
      {"undefined", &simple<is_undefined>},
      {"none", &simple<is_none>},
      {"boolean", &simple<is_boolean>},
      {"true", &simple<is_true>},
      {"false", &simple<is_false>},
      {"integer", &simple<is_integer>},
      {"float", &simple<is_float>},
      {"number", &simple<is_any_number>},
      {"string", &simple<is_string>},
      {"mapping", &simple<is_mapping>},
      {"sequence", &simple<is_sequence>},
      {"callable", &simple<is_callable>},
      {"escaped", &simple<is_escaped>},
      {"iterable", &test_iterable},
      {"lower", &test_case<true>},
      {"upper", &test_case<false>},
      {"odd", &test_parity<1>},
      {"even", &test_parity<0>},
      {"divisibleby", &test_divisibleby},
      {"sameas", &test_sameas},
      {"filter", &test_named<find_filter>},
      {"test", &test_named<find_test>},
      {"in", &test_compare<Op::in>},
      {"==", &test_compare<Op::eq>},
      {"eq", &test_compare<Op::eq>},
      {"equalto", &test_compare<Op::eq>},
      {"!=", &test_compare<Op::ne>},
      {"ne", &test_compare<Op::ne>},
      {">", &test_compare<Op::gt>},
      {"gt", &test_compare<Op::gt>},
      {"greaterthan", &test_compare<Op::gt>},
      {">=", &test_compare<Op::ge>},
      {"ge", &test_compare<Op::ge>},
      {"<", &test_compare<Op::lt>},
      {"lt", &test_compare<Op::lt>},
      {"lessthan", &test_compare<Op::lt>},
      {"<=", &test_compare<Op::le>},
      {"le", &test_compare<Op::le>},
  };
  const auto at = kTests.find(name);
  return at == kTests.end() ? nullptr : at->second;
}

}  // namespace ridge::jinja
