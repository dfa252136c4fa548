// Resolves names to slots and filters to functions, by the rules of Jinja2's compiler: each loop body, macro and block
// is a frame of its own that reads outer names as they were when it was entered; an `if` is no frame. Done once a
// template.
#pragma once

#include <string_view>

#include "text/jinja/ast.h"

namespace ridge::jinja {

void bind(Template& tmpl);  // throws Failure

// filters.cc and tests.cc; null: none of that name.
Builtin find_filter(std::string_view name);
Builtin find_test(std::string_view name);

}  // namespace ridge::jinja
