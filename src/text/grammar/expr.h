// What every front end (GBNF, choices, regular expressions, JSON schema) builds and the compiler reads: rules whose
// bodies are trees over code points and bytes. Plain values; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ridge::grammar {

struct CharRange {
  char32_t lo = 0, hi = 0;  // both included
};
using CharSet = std::vector<CharRange>;  // sorted, without overlaps once normalised

inline constexpr char32_t kMaxChar = 0x10FFFF;

CharSet normalised(CharSet set);
CharSet complement(const CharSet& normal);                 // within U+0000..U+10FFFF
CharSet intersection(const CharSet& a, const CharSet& b);  // of normalised sets

enum class ExprKind : uint8_t {
  text,    // bytes, in order; none is the empty text
  chars,   // one character of a set, in UTF-8 (surrogates never match)
  seq,     // the children in order
  alt,     // any one of the children; none at all matches nothing
  repeat,  // the child, min to max times
  rule,    // what the rule matches
};

using ExprId = uint32_t;
using RuleId = uint32_t;
inline constexpr uint32_t kNoMax = UINT32_MAX;
inline constexpr ExprId kNoExpr = UINT32_MAX;

struct Expr {
  ExprKind kind = ExprKind::text;
  uint32_t first = 0, n = 0;       // into bytes, sets or children; rule: first is the RuleId
  uint32_t min = 0, max = kNoMax;  // repeat
};

class Grammar {
 public:
  ExprId text(std::string_view bytes);
  ExprId chars(CharSet set);  // need not be normalised
  ExprId seq(const std::vector<ExprId>& parts);
  ExprId alt(const std::vector<ExprId>& parts);
  ExprId repeat(ExprId part, uint32_t min, uint32_t max);
  ExprId optional(ExprId part) { return repeat(part, 0, 1); }
  ExprId star(ExprId part) { return repeat(part, 0, kNoMax); }
  ExprId rule(RuleId id);
  ExprId empty() { return text({}); }
  ExprId nothing() { return alt({}); }

  // The rule of that name, made without a body where there is none.
  RuleId named(std::string_view name);
  RuleId anonymous(std::string name, ExprId body);
  void define(RuleId id, ExprId body) { rules_[id].body = body; }
  bool is_defined(RuleId id) const { return rules_[id].body != kNoExpr; }
  const std::string& name(RuleId id) const { return rules_[id].name; }
  ExprId body(RuleId id) const { return rules_[id].body; }
  size_t n_rules() const { return rules_.size(); }
  size_t n_exprs() const { return exprs_.size(); }

  const Expr& at(ExprId id) const { return exprs_[id]; }
  std::string_view bytes(const Expr& e) const { return std::string_view(bytes_).substr(e.first, e.n); }
  const CharSet& set(const Expr& e) const { return sets_[e.first]; }
  ExprId child(const Expr& e, size_t i) const { return children_[e.first + i]; }

  RuleId root = 0;

 private:
  ExprId add(Expr e);

  struct Rule {
    std::string name;
    ExprId body = kNoExpr;
  };
  std::vector<Expr> exprs_;
  std::vector<ExprId> children_;
  std::vector<CharSet> sets_;
  std::string bytes_;
  std::vector<Rule> rules_;
  std::unordered_map<std::string, RuleId> by_name_;
};

// The byte ranges that spell a set of characters in UTF-8: each sequence is 1 to 4 ranges, one a byte.
struct ByteRange {
  uint8_t lo = 0, hi = 0;
};
struct Utf8Sequence {
  ByteRange bytes[4];
  uint32_t n = 0;
};
std::vector<Utf8Sequence> utf8_sequences(const CharSet& normal);

}  // namespace ridge::grammar
