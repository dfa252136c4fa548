// The keywords of strings, numbers, arrays and objects.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/utf8.h"
#include "text/grammar/limits.h"
#include "text/grammar/machine.h"
#include "text/grammar/regex.h"
#include "text/grammar/schema_compiler.h"

namespace ridge::grammar {
namespace {

// Each a subset of its format that every reader of the format accepts: no leap seconds, no 29 February.
#define RIDGE_DATE                                                                                                    \
  "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-" \
  "9]|2[0-8]))"
#define RIDGE_TIME \
  "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
#define RIDGE_LABEL "[A-Za-z0-9](?:[A-Za-z0-9-]{0,20}[A-Za-z0-9])?"
#define RIDGE_HOST RIDGE_LABEL "(?:\\." RIDGE_LABEL "){0,4}"
#define RIDGE_BYTE "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#define RIDGE_PATH_CHAR "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"

constexpr std::pair<std::string_view, std::string_view> kFormats[] = {
    {"date", RIDGE_DATE},
    {"time", RIDGE_TIME},
    {"date-time", RIDGE_DATE "T" RIDGE_TIME},
    {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
    {"ipv4", RIDGE_BYTE "\\." RIDGE_BYTE "\\." RIDGE_BYTE "\\." RIDGE_BYTE},
    {"hostname", RIDGE_HOST},
    {"email", "[A-Za-z0-9_+-]{1,30}(?:\\.[A-Za-z0-9_+-]{1,15}){0,2}@" RIDGE_HOST},
    {"uri", "(?:https?|ftp|file|urn)://" RIDGE_HOST "(?::[1-9][0-9]{0,3})?(?:/" RIDGE_PATH_CHAR
            "*)*(?:\\?(?:" RIDGE_PATH_CHAR "|[/?])*)?(?:#(?:" RIDGE_PATH_CHAR "|[/?])*)?"},
};

#undef RIDGE_DATE
#undef RIDGE_TIME
#undef RIDGE_LABEL
#undef RIDGE_HOST
#undef RIDGE_BYTE
#undef RIDGE_PATH_CHAR

}  // namespace

Result<ExprId> SchemaCompiler::string(const Place& p) {
  RIDGE_TRY(const uint32_t min, count_keyword(p, "minLength", 0));
  RIDGE_TRY(const uint32_t max, count_keyword(p, "maxLength", kNoMax));
  if (max < min) return schema_error(p.path + "/maxLength", fmt::format("{} is below minLength {}", max, min));
  const bool has_length = min > 0 || max != kNoMax;
  const bool has_pattern = p.schema->contains("pattern"), has_format = p.schema->contains("format");
  if (has_pattern && has_format) return schema_error(p.path + "/format", "cannot be enforced together with pattern");
  if (has_length && (has_pattern || has_format)) {
    return schema_error(p.path + (min > 0 ? "/minLength" : "/maxLength"),
                        fmt::format("cannot be enforced together with {}; write the length into a pattern",
                                    has_pattern ? "pattern" : "format"));
  }
  if (has_format) return format(p);
  if (!has_pattern) return texts_.string(min, max);
  const Place at = p.at("pattern");
  if (!at.schema->is_string()) return schema_error(at.path, "expected a regular expression in a string");
  auto content = regex_expr(grammar_, at.schema->get_ref<const std::string&>(), Anchoring::search);
  if (!content) return schema_error(at.path, content.error().message);
  return texts_.string_of(*content);
}

Result<ExprId> SchemaCompiler::format(const Place& p) {
  const Place at = p.at("format");
  if (!at.schema->is_string()) return schema_error(at.path, "expected a format's name");
  const auto& name = at.schema->get_ref<const std::string&>();
  std::string known;
  for (const auto& [format, pattern] : kFormats) {
    if (format != name) {
      known += (known.empty() ? "" : ", ") + std::string(format);
      continue;
    }
    RIDGE_TRY(const ExprId content, regex_expr(grammar_, pattern, Anchoring::whole));
    return texts_.string_of(content);
  }
  return schema_error(at.path, fmt::format("format '{}' cannot be enforced; known are {}", name, known));
}

namespace {

struct Limit {
  JsonTexts::Bound bound;
  bool is_set = false;
};

// The nearest integer inside; `open` only where the bound itself is an integer.
Result<Limit> limit_of(const Place& p, std::string_view closed, std::string_view open, bool is_minimum) {
  Limit out;
  for (const std::string_view key : {closed, open}) {
    if (!p.schema->contains(key)) continue;
    const Place at = p.at(key);
    const Json& v = *at.schema;
    Limit l{.bound = {}, .is_set = true};
    if (v.is_number_unsigned()) {
      l.bound.value = v.get<uint64_t>();
    } else if (v.is_number_integer()) {
      l.bound.value = v.get<int64_t>();
    } else if (v.is_number()) {
      const double d = v.get<double>();
      if (std::abs(d) > 1e18) return schema_error(at.path, "a bound beyond 1e18 that is no integer");
      const double whole = is_minimum ? std::ceil(d) : std::floor(d);
      l.bound.value = static_cast<int64_t>(whole);
      l.bound.open = key == open && whole == d;
      if (whole != d) l.bound.open = false;
    } else {
      return schema_error(at.path, "expected a number");
    }
    if (v.is_number_integer()) l.bound.open = key == open;
    const bool tighter = !out.is_set ||
                         (is_minimum ? l.bound.value > out.bound.value : l.bound.value < out.bound.value) ||
                         (l.bound.value == out.bound.value && l.bound.open);
    if (tighter) out = l;
  }
  return out;
}

}  // namespace

Result<ExprId> SchemaCompiler::number(const Place& p, bool is_integer) {
  if (p.schema->contains("multipleOf") && !(is_integer && p.schema->at("multipleOf") == 1))
    return schema_error(p.path + "/multipleOf", "cannot be enforced");
  RIDGE_TRY(const Limit lo, limit_of(p, "minimum", "exclusiveMinimum", true));
  RIDGE_TRY(const Limit hi, limit_of(p, "maximum", "exclusiveMaximum", false));
  std::optional<WideInt> min, max;
  if (lo.is_set) min = lo.bound.value + (lo.bound.open && is_integer ? 1 : 0);
  if (hi.is_set) max = hi.bound.value - (hi.bound.open && is_integer ? 1 : 0);
  const std::string path = p.path + (p.schema->contains("maximum") ? "/maximum" : "/exclusiveMaximum");
  if (min && max && *min > *max) return schema_error(path, "no integer lies between the bounds");
  if (is_integer) return texts_.integer(min, max);
  if (!min && !max) return texts_.number();
  if (min && max && *min == *max && (lo.bound.open || hi.bound.open))
    return schema_error(path, "no number lies between the bounds");
  std::optional<JsonTexts::Bound> from, to;
  if (lo.is_set) from = lo.bound;
  if (hi.is_set) to = hi.bound;
  return texts_.number(from, to);
}

// From the last optional element backwards: each further one stands inside the option of the one before.
Result<ExprId> SchemaCompiler::array(const Place& p, int depth) {
  const Json& s = *p.schema;
  if (s.contains("uniqueItems") && s["uniqueItems"] != false)
    return schema_error(p.path + "/uniqueItems", "cannot be enforced");
  RIDGE_TRY(const uint32_t min, count_keyword(p, "minItems", 0));
  RIDGE_TRY(uint32_t max, count_keyword(p, "maxItems", kNoMax));
  if (max < min) return schema_error(p.path + "/maxItems", fmt::format("{} is below minItems {}", max, min));
  std::vector<ExprId> prefix;
  if (s.contains("prefixItems")) {
    if (!s["prefixItems"].is_array()) return schema_error(p.path + "/prefixItems", "expected a list of schemas");
    for (size_t i = 0; i < s["prefixItems"].size(); ++i) {
      RIDGE_TRY(const ExprId part, compile(p.at("prefixItems", i), depth + 1));
      prefix.push_back(part);
    }
  }
  std::optional<ExprId> item;
  if (!s.contains("items")) {
    item = texts_.any_value();
  } else if (s["items"].is_array()) {
    return schema_error(p.path + "/items", "a list of schemas is called prefixItems since draft 2020-12");
  } else if (s["items"] != false) {
    RIDGE_TRY(item, compile(p.at("items"), depth + 1));
  }
  const auto n_prefix = static_cast<uint32_t>(prefix.size());
  if (!item) max = std::min(max, n_prefix);
  if (max < min) return schema_error(p.path + "/minItems", fmt::format("{} items, where only {} can be", min, max));
  if (max == 0) return grammar_.text("[]");
  // Behind the prefix; the first element of all has no comma before it.
  ExprId rest = grammar_.empty();
  if (item && max > n_prefix) {
    const uint32_t least = std::max(min, n_prefix) - n_prefix, most = max == kNoMax ? kNoMax : max - n_prefix;
    const ExprId further = grammar_.seq({texts_.comma(), *item});
    if (n_prefix > 0) {
      rest = grammar_.repeat(further, least, most);
    } else {
      rest = grammar_.seq(
          {*item, grammar_.repeat(further, least > 0 ? least - 1 : 0, most == kNoMax ? kNoMax : most - 1)});
    }
  }
  for (uint32_t i = std::min(n_prefix, max); i-- > 0;) {
    const ExprId element = i == 0 ? prefix[i] : grammar_.seq({texts_.comma(), prefix[i]});
    rest = grammar_.seq({element, rest});
    if (i > 0 && i >= min) rest = grammar_.optional(rest);
  }
  const ExprId full = texts_.list(grammar_.text("["), rest, grammar_.text("]"));
  return min == 0 ? grammar_.alt({grammar_.text("[]"), full}) : full;
}

}  // namespace ridge::grammar
