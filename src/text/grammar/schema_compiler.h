// The compiler's own: one schema document on its way to rules. Included by schema*.cc only.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/grammar/json_texts.h"

namespace ridge::grammar {

using Json = nlohmann::ordered_json;

// A schema and where it stands in the document, as a JSON pointer.
struct Place {
  const Json* schema = nullptr;
  std::string path;
  Place at(std::string_view key) const;                // of an object's member
  Place at(std::string_view key, size_t index) const;  // of a member's array
};

class SchemaCompiler {
 public:
  explicit SchemaCompiler(Json document) : document_(std::move(document)), texts_(grammar_) {}
  Result<Grammar> run();

 private:
  Result<ExprId> compile(const Place& p, int depth);
  Result<ExprId> compile_object(const Place& p, int depth);  // of the document's kind: a schema that is an object
  Result<ExprId> reference(const Place& p);
  Result<ExprId> alternatives(const Place& p, std::string_view key, int depth);
  Result<ExprId> typed(const Place& p, int depth);
  Result<ExprId> of_type(std::string_view type, const Place& p, int depth);
  Result<ExprId> enumerated(const Place& p);

  Result<ExprId> string(const Place& p);
  Result<ExprId> format(const Place& p);
  Result<ExprId> number(const Place& p, bool is_integer);
  Result<ExprId> array(const Place& p, int depth);
  Result<ExprId> object(const Place& p, int depth);
  Result<std::optional<ExprId>> other_property(const Place& p, const std::vector<std::string>& names, int depth);

  // schema_merge.cc
  Result<Json> merged(const Json& a, const Json& b, const std::string& path, int depth);
  Result<Json> flattened(const Place& p, int depth);  // without $ref and allOf
  Result<Place> resolve(const Place& p) const;
  Result<void> check_disjoint(const Json& branches, const Place& p);

  const Json* keep(Json schema);  // schemas that merging made live as long as the compiler

  Json document_;
  Grammar grammar_;
  JsonTexts texts_;
  std::map<std::string, RuleId> rules_;  // by path, of what $ref names
  std::vector<std::unique_ptr<Json>> made_;
  int n_open_references_ = 0;
  size_t n_merged_nodes_ = 0;
};

tl::unexpected<Error> schema_error(const std::string& path, std::string_view what);
// A limit that is a whole number of at least 0 and fits; the value for an absent key.
Result<uint32_t> count_keyword(const Place& p, std::string_view key, uint32_t absent);
inline constexpr int kMaxSchemaNesting = 256;

}  // namespace ridge::grammar
