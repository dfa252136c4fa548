#include "text/grammar/expr.h"

#include <algorithm>

#include "base/utf8.h"

namespace ridge::grammar {

CharSet normalised(CharSet set) {
  std::erase_if(set, [](const CharRange& r) { return r.lo > r.hi; });
  std::sort(set.begin(), set.end(), [](const CharRange& a, const CharRange& b) { return a.lo < b.lo; });
  CharSet out;
  for (const CharRange& r : set) {
    if (!out.empty() && r.lo <= out.back().hi + 1) {
      out.back().hi = std::max(out.back().hi, r.hi);
    } else {
      out.push_back(r);
    }
  }
  return out;
}

CharSet complement(const CharSet& normal) {
  CharSet out;
  char32_t next = 0;
  for (const CharRange& r : normal) {
    if (r.lo > next) out.push_back({next, r.lo - 1});
    next = r.hi + 1;
  }
  if (next <= kMaxChar) out.push_back({next, kMaxChar});
  return out;
}

CharSet intersection(const CharSet& a, const CharSet& b) {
  CharSet out;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const char32_t lo = std::max(a[i].lo, b[j].lo), hi = std::min(a[i].hi, b[j].hi);
    if (lo <= hi) out.push_back({lo, hi});
    (a[i].hi < b[j].hi ? i : j)++;
  }
  return out;
}

ExprId Grammar::add(Expr e) {
  exprs_.push_back(e);
  return static_cast<ExprId>(exprs_.size() - 1);
}

ExprId Grammar::text(std::string_view bytes) {
  const auto first = static_cast<uint32_t>(bytes_.size());
  bytes_ += bytes;
  return add({.kind = ExprKind::text, .first = first, .n = static_cast<uint32_t>(bytes.size())});
}

ExprId Grammar::chars(CharSet set) {
  sets_.push_back(normalised(std::move(set)));
  return add({.kind = ExprKind::chars, .first = static_cast<uint32_t>(sets_.size() - 1), .n = 1});
}

ExprId Grammar::seq(const std::vector<ExprId>& parts) {
  if (parts.size() == 1) return parts[0];
  const auto first = static_cast<uint32_t>(children_.size());
  children_.insert(children_.end(), parts.begin(), parts.end());
  return add({.kind = ExprKind::seq, .first = first, .n = static_cast<uint32_t>(parts.size())});
}

ExprId Grammar::alt(const std::vector<ExprId>& parts) {
  if (parts.size() == 1) return parts[0];
  const auto first = static_cast<uint32_t>(children_.size());
  children_.insert(children_.end(), parts.begin(), parts.end());
  return add({.kind = ExprKind::alt, .first = first, .n = static_cast<uint32_t>(parts.size())});
}

ExprId Grammar::repeat(ExprId part, uint32_t min, uint32_t max) {
  if (min == 1 && max == 1) return part;
  const auto first = static_cast<uint32_t>(children_.size());
  children_.push_back(part);
  return add({.kind = ExprKind::repeat, .first = first, .n = 1, .min = min, .max = max});
}

ExprId Grammar::rule(RuleId id) {
  return add({.kind = ExprKind::rule, .first = id, .n = 1});
}

RuleId Grammar::named(std::string_view name) {
  const auto [at, is_new] = by_name_.try_emplace(std::string(name), static_cast<RuleId>(rules_.size()));
  if (is_new) rules_.push_back({.name = std::string(name), .body = kNoExpr});
  return at->second;
}

RuleId Grammar::anonymous(std::string name, ExprId body) {
  rules_.push_back({.name = std::move(name), .body = body});
  return static_cast<RuleId>(rules_.size() - 1);
}

namespace {

// [lo, hi] of characters with the same number of bytes: split until all but the leading bytes span their whole range.
void add_sequences(char32_t lo, char32_t hi, std::vector<Utf8Sequence>& out) {
  for (const int n_low : {1, 2, 3}) {
    const char32_t mask = (char32_t{1} << (6 * n_low)) - 1;
    if (lo < 0x80 || (lo & ~mask) == (hi & ~mask)) continue;
    if ((lo & mask) != 0) {
      add_sequences(lo, lo | mask, out);
      return add_sequences((lo | mask) + 1, hi, out);
    }
    if ((hi & mask) != mask) {
      add_sequences(lo, (hi & ~mask) - 1, out);
      return add_sequences(hi & ~mask, hi, out);
    }
  }
  std::string a, b;
  utf8_append(a, lo);
  utf8_append(b, hi);
  Utf8Sequence s;
  s.n = static_cast<uint32_t>(a.size());
  for (size_t i = 0; i < a.size(); ++i) s.bytes[i] = {static_cast<uint8_t>(a[i]), static_cast<uint8_t>(b[i])};
  out.push_back(s);
}

}  // namespace

std::vector<Utf8Sequence> utf8_sequences(const CharSet& normal) {
  static constexpr CharRange kLengths[] = {
      {0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, kMaxChar}};
  std::vector<Utf8Sequence> out;
  for (const CharRange& r : normal) {
    for (const CharRange& l : kLengths) {
      const char32_t lo = std::max(r.lo, l.lo), hi = std::min(r.hi, l.hi);
      if (lo <= hi) add_sequences(lo, hi, out);
    }
  }
  return out;
}

}  // namespace ridge::grammar
