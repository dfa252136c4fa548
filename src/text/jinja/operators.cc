// Operators as Python applies them to the types that templates have. Integers that leave 64 bits are an error where
// Python would go on with longer ones.
#include <cmath>

#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"

namespace ridge::jinja {

namespace {

const char* symbol(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::sub:
      return "-";
    case Op::mul:
      return "*";
    case Op::div:
      return "/";
    case Op::floordiv:
      return "//";
    case Op::mod:
      return "%";
    case Op::pow:
      return "** or pow()";
    case Op::lt:
      return "<";
    case Op::le:
      return "<=";
    case Op::gt:
      return ">";
    case Op::ge:
      return ">=";
    default:
      return "==";
  }
}

[[noreturn]] void raise_overflow() {
  raise("OverflowError", "the integer result does not fit into 64 bits");
}

int64_t power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (true) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) raise_overflow();
    exponent >>= 1;
    if (exponent == 0) return result;
    if (__builtin_mul_overflow(base, base, &base)) {
      // Only bases 0, 1 and -1 survive long exponents, and those never overflow.
      raise_overflow();
    }
  }
}

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
  if (b == -1) {
    int64_t out;
    if (__builtin_sub_overflow(int64_t{0}, a, &out)) raise_overflow();
    return out;
  }
  const int64_t q = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? q - 1 : q;
}

int64_t floor_modulo(int64_t a, int64_t b) {
  if (b == 0) raise("ZeroDivisionError", "integer modulo by zero");
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Value whole_arithmetic(Op op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Op::add:
      if (__builtin_add_overflow(a, b, &out)) raise_overflow();
      return Value::integer(out);
    case Op::sub:
      if (__builtin_sub_overflow(a, b, &out)) raise_overflow();
      return Value::integer(out);
    case Op::mul:
      if (__builtin_mul_overflow(a, b, &out)) raise_overflow();
      return Value::integer(out);
    case Op::div:
      if (b == 0) raise("ZeroDivisionError", "division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Op::floordiv:
      return Value::integer(floor_divide(a, b));
    case Op::mod:
      return Value::integer(floor_modulo(a, b));
    default:
      break;
  }
  if (b >= 0) return Value::integer(power(a, b));
  if (a == 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
}

double float_modulo(double a, double b) {
  double r = std::fmod(a, b);
  if (r != 0) {
    if ((b < 0) != (r < 0)) r += b;
  } else {
    r = std::copysign(0.0, b);
  }
  return r;
}

Value real_arithmetic(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return Value::real(a + b);
    case Op::sub:
      return Value::real(a - b);
    case Op::mul:
      return Value::real(a * b);
    case Op::div:
      if (b == 0) raise("ZeroDivisionError", "float division by zero");
      return Value::real(a / b);
    case Op::floordiv: {
      if (b == 0) raise("ZeroDivisionError", "float floor division by zero");
      const double r = float_modulo(a, b);
      double q = (a - r) / b;
      if (q != 0) {
        const double whole = std::floor(q);
        q = q - whole > 0.5 ? whole + 1 : whole;
      } else {
        q = std::copysign(0.0, a / b);
      }
      return Value::real(q);
    }
    case Op::mod:
      if (b == 0) raise("ZeroDivisionError", "float modulo");
      return Value::real(float_modulo(a, b));
    default:
      break;
  }
  if (a == 0 && b < 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    raise("TypeError", "a negative number to a fractional power is complex, which templates cannot hold");
  }
  const double out = std::pow(a, b);
  if (std::isinf(out) && std::isfinite(a) && std::isfinite(b))
    raise("OverflowError", "(34, 'Numerical result out of range')");
  return Value::real(out);
}

bool is_big(const Value& v) {
  return v.is_object(ObjectKind::big_integer);
}

}  // namespace

void Interpreter::raise_operands(Op op, const Value& a, const Value& b) {
  raise("TypeError", "unsupported operand type(s) for {}: '{}' and '{}'", symbol(op), type_name(a), type_name(b));
}

Value Interpreter::binary(Op op, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    if (a.is_whole() && b.is_whole()) return whole_arithmetic(op, a.as_int(), b.as_int());
    return real_arithmetic(op, a.as_real(), b.as_real());
  }
  if (a.is_undefined()) raise_undefined(a);
  if (op == Op::mod && a.is_string()) return format_percent(*this, a, b);
  if (b.is_undefined()) raise_undefined(b);
  return arithmetic(op, a, b);
}

Value Interpreter::arithmetic(Op op, const Value& a, const Value& b) {
  if ((is_big(a) || is_big(b)) && (is_big(a) || is_number(a)) && (is_big(b) || is_number(b))) raise_overflow();
  if (op == Op::add) {
    if (a.is_string() && b.is_string()) return concat(a, b);
    if (a.is_string()) raise("TypeError", "can only concatenate str (not \"{}\") to str", type_name(b));
    if (a.is(Kind::list) || a.is(Kind::tuple)) {
      if (a.kind() != b.kind()) {
        raise("TypeError", "can only concatenate {0} (not \"{1}\") to {0}", a.is(Kind::list) ? "list" : "tuple",
              type_name(b));
      }
      budget.make_items(a.items().size() + b.items().size());
      std::vector<Value> items = a.items();
      items.insert(items.end(), b.items().begin(), b.items().end());
      return a.is(Kind::list) ? new_list(std::move(items)) : new_tuple(std::move(items));
    }
  }
  if (op == Op::mul) {
    const auto repeatable = [](const Value& v) { return v.is_string() || v.is(Kind::list) || v.is(Kind::tuple); };
    if (repeatable(a) || repeatable(b)) {
      const Value& sequence = repeatable(a) ? a : b;
      const Value& times = repeatable(a) ? b : a;
      if (!times.is_whole()) raise("TypeError", "can't multiply sequence by non-int of type '{}'", type_name(times));
      return repeat(sequence, times.as_int());
    }
  }
  raise_operands(op, a, b);
}

Value Interpreter::concat(const Value& a, const Value& b) {
  const bool markup = a.str().markup || b.str().markup;
  MarkedText left = markup ? escape_html(a) : a.text();
  budget.make_bytes(left.size() + b.text().size());
  left.append(markup ? escape_html(b) : b.text());
  return Value::string(std::move(left), markup);
}

Value Interpreter::repeat(const Value& sequence, int64_t times) {
  const auto n = static_cast<uint64_t>(std::max<int64_t>(times, 0));
  uint64_t total = 0;
  if (sequence.is_string()) {
    if (__builtin_mul_overflow(n, sequence.text().size(), &total)) total = UINT64_MAX;
    budget.make_bytes(total);
    MarkedText out;
    if (total == 0) return Value::string(std::move(out));
    out.reserve(total);
    for (uint64_t i = 0; i < n; ++i) out.append(sequence.text());
    return Value::string(std::move(out), sequence.str().markup);
  }
  if (__builtin_mul_overflow(n, sequence.items().size(), &total)) total = UINT64_MAX;
  budget.make_items(total);
  std::vector<Value> items;
  if (total != 0) {
    items.reserve(total);
    for (uint64_t i = 0; i < n; ++i) items.insert(items.end(), sequence.items().begin(), sequence.items().end());
  }
  return sequence.is(Kind::list) ? new_list(std::move(items)) : new_tuple(std::move(items));
}

bool Interpreter::compare(Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::eq:
      return equal(a, b, budget);
    case Op::ne:
      return !equal(a, b, budget);
    case Op::in:
      return contains(a, b);
    case Op::not_in:
      return !contains(a, b);
    default:
      return ordered(a, b, symbol(op), budget);
  }
}

bool Interpreter::contains(const Value& item, const Value& container) {
  switch (container.kind()) {
    case Kind::undefined:
      return false;
    case Kind::string:
      if (!item.is_string())
        raise("TypeError", "'in <string>' requires string as left operand, not {}", type_name(item));
      budget.read_bytes(container.text().size());
      return find_bytes(container.bytes(), item.bytes(), 0) != std::string_view::npos;
    case Kind::dict:
      require_hashable(item);
      return container.as_dict().find(item) != nullptr;
    case Kind::list:
    case Kind::tuple:
      for (const Value& v : container.items()) {
        if (equal(v, item, budget)) return true;
      }
      return false;
    default:
      break;
  }
  if (!is_iterable(container)) raise("TypeError", "argument of type '{}' is not iterable", type_name(container));
  const auto it = iterate(container);
  for (Value v; it->next(*this, v);) {
    if (equal(v, item, budget)) return true;
  }
  return false;
}

Value Interpreter::negate(const Value& v, bool minus) {
  if (v.is_whole()) {
    int64_t out = v.as_int();
    if (minus && __builtin_sub_overflow(int64_t{0}, out, &out)) raise_overflow();
    return Value::integer(out);
  }
  if (v.is(Kind::real)) return Value::real(minus ? -v.as_real() : v.as_real());
  if (v.is_undefined()) raise_undefined(v);
  if (is_big(v)) raise_overflow();
  raise("TypeError", "bad operand type for unary {}: '{}'", minus ? "-" : "+", type_name(v));
}

}  // namespace ridge::jinja
