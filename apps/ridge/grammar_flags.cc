#include "grammar_flags.h"

#include "command.h"

namespace ridge::app {

void add_grammar_flags(Cli& cli, GrammarFlags& f) {
  cli.value("--grammar", f.grammar, "the answer must match this grammar (GBNF; docs/grammar.md)");
  cli.value("--grammar-file", f.grammar_file, "file that holds the grammar");
  cli.value("-j, --json-schema", f.schema, "the answer must be JSON that this schema accepts; {} for any JSON");
  cli.value("-jf, --json-schema-file", f.schema_file, "file that holds the schema");
  cli.value("--regex", f.regex, "the answer must match this regular expression from end to end");
}

Result<std::optional<Constraint>> constraint_of(const Cli& cli, const GrammarFlags& f) {
  struct Row {
    const char* flag;
    Constraint::Kind kind;
    const std::string& value;
    bool is_file;
  };
  const Row rows[] = {{"--grammar", Constraint::Kind::gbnf, f.grammar, false},
                      {"--grammar-file", Constraint::Kind::gbnf, f.grammar_file, true},
                      {"--json-schema", Constraint::Kind::json_schema, f.schema, false},
                      {"--json-schema-file", Constraint::Kind::json_schema, f.schema_file, true},
                      {"--regex", Constraint::Kind::regex, f.regex, false}};
  std::optional<Constraint> found;
  const char* first = nullptr;
  for (const Row& row : rows) {
    if (!cli.given(row.flag)) continue;
    if (found)
      return fail(ErrorCode::invalid_argument, "{} and {}: an answer has one constraint; give one", first, row.flag);
    first = row.flag;
    std::string text = row.value;
    if (row.is_file) {
      RIDGE_TRY(text, read_text(row.value));
    }
    found = Constraint{.kind = row.kind, .text = std::move(text), .choices = {}};
  }
  return found;
}

}  // namespace ridge::app
