// Regular expressions of the kind that a finite automaton can follow: what ECMA-262 and Python agree on.
//
// Literals, `.` (no line ends), classes with ranges and \d \w \s \D \W \S, escapes \n \r \t \f \v \0 \xHH \uHHHH
// \u{H...}, groups ( ), (?: ), (?<name> ), alternatives, * + ? {m} {m,} {m,n} and their lazy forms (which match the
// same texts), ^ and $ at the ends of alternatives. Refused, with the position: look-around, back-references, \b,
// possessive repetition, flags, \p, and an anchor where no text could match. Linear in the text: nothing backtracks.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/grammar/expr.h"

namespace ridge::grammar {

enum class Anchoring : uint8_t {
  whole,   // the expression describes the whole text
  search,  // the text holds a match somewhere (JSON schema's pattern)
};

// The expression's tree in `g`; its characters are `chars` and `text` over code points.
Result<ExprId> regex_expr(Grammar& g, std::string_view pattern, Anchoring anchoring);

Result<Grammar> parse_regex(std::string_view pattern);  // whole

}  // namespace ridge::grammar
