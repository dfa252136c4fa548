// GBNF, as llama.cpp reads it: rules `name ::= ...`, the first that is asked for is `root`.
//
// Literals "...", classes [...] and [^...], `.` for any character, groups, | * + ? {m} {m,} {m,n}, comments from #,
// escapes \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH. Characters are code points; what a text spells is their UTF-8.
// Refused, with line and column: everything else, undefined rules, a rule defined twice, tokens (<...>), empty classes.
// Truth: llama.cpp's grammars/README.md.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/grammar/expr.h"

namespace ridge::grammar {

Result<Grammar> parse_gbnf(std::string_view source);

// The text is one of these.
Result<Grammar> choices(const std::vector<std::string>& texts);

}  // namespace ridge::grammar
