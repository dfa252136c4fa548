// Expressions for the parts of JSON texts: strings by their content, integers and numbers by their bounds, any value.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "text/grammar/expr.h"

namespace ridge::grammar {

__extension__ using WideInt = __int128;  // holds every bound that a 64-bit integer can be, and its neighbours

// Rules that all schemas of one grammar share, made when first asked for.
class JsonTexts {
 public:
  explicit JsonTexts(Grammar& g) : g_(g) {}

  ExprId space();  // nothing, a space, or a line end with up to 20 blanks
  ExprId any_value();
  ExprId any_object();
  ExprId any_array();
  ExprId any_string() { return string(0, kNoMax); }
  ExprId string(uint32_t min_chars, uint32_t max_chars);
  // A string whose characters, unescaped, are what `content` describes.
  ExprId string_of(ExprId content);
  ExprId string_but(const std::vector<std::string>& excluded);  // any string that is none of these
  ExprId number();
  ExprId integer(std::optional<WideInt> min, std::optional<WideInt> max);
  // Bounds must have been checked: at least one integer lies within. An open bound excludes itself.
  struct Bound {
    WideInt value = 0;
    bool open = false;
  };
  ExprId number(std::optional<Bound> min, std::optional<Bound> max);
  ExprId list(ExprId open, ExprId inside, ExprId close);  // with space after `open` and before `close`
  ExprId comma();

 private:
  ExprId shared(std::optional<RuleId>& rule, const char* name, ExprId (JsonTexts::*make)());
  ExprId make_value();
  ExprId make_object();
  ExprId make_array();
  ExprId make_char();
  ExprId make_space();
  ExprId make_string();
  ExprId make_number();
  ExprId make_integer();
  ExprId bounded_integer(std::optional<WideInt> min, std::optional<WideInt> max);
  ExprId one_char();
  ExprId escaped(const CharSet& set);
  ExprId encode(ExprId content);
  ExprId digits_between(std::string_view lo, std::string_view hi);
  ExprId natural(WideInt min, std::optional<WideInt> max);
  ExprId not_in(std::vector<std::u32string> words, size_t depth);

  Grammar& g_;
  std::optional<RuleId> value_, object_, array_, char_, space_, string_, number_, integer_;
};

}  // namespace ridge::grammar
