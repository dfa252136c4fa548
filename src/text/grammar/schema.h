// JSON schema (draft 2020-12) to the rules of a grammar: every text that the grammar matches is JSON that the schema
// accepts. The other way round it may be narrower, in ways that docs/grammar.md lists: properties come in the order
// written, others than those listed only where additionalProperties is given, numbers have a bounded number of digits.
//
// Refused with the path of the keyword, never ignored: what cannot be enforced. Truth: json-schema.org, draft 2020-12.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/grammar/expr.h"

namespace ridge::grammar {

Result<Grammar> parse_json_schema(std::string_view schema);

// Any JSON object (response_format json_object).
Grammar any_json_object();

}  // namespace ridge::grammar
