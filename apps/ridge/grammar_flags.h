// The flags that constrain an answer: --grammar, --json-schema, --regex and their files.
#pragma once

#include <optional>
#include <string>

#include "cli.h"
#include "ridge/request.h"

namespace ridge::app {

struct GrammarFlags {
  std::string grammar, grammar_file, schema, schema_file, regex;
};
void add_grammar_flags(Cli& cli, GrammarFlags& flags);
// Errors: more than one of them, a file that cannot be read.
Result<std::optional<Constraint>> constraint_of(const Cli& cli, const GrammarFlags& flags);

}  // namespace ridge::app
