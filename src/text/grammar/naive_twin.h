// Tests only: whether a text can be the beginning of, or is all of, what a grammar matches, asked of the expressions
// themselves by walking back and forth over every way. Shares nothing with the automaton. Slow; short texts.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "text/grammar/expr.h"

namespace ridge::grammar::twin {

// The places in `text` where the expression can end when it begins at `at`. Sets `more` when the text ends inside it.
class Naive {
 public:
  Naive(const Grammar& g, std::string_view text) : g_(g), text_(text) {}

  bool is_whole() { return ends(g_.body(g_.root), 0).count(text_.size()) != 0; }
  bool is_beginning() {
    more_ = false;
    const auto all = ends(g_.body(g_.root), 0);
    return more_ || all.count(text_.size()) != 0;
  }

 private:
  using Places = std::set<size_t>;

  const Places& ends(ExprId id, size_t at) {
    const auto known = known_.find({id, at});
    if (known != known_.end()) return known->second;
    return known_[{id, at}] = find(id, at);
  }

  Places find(ExprId id, size_t at) {
    const Expr& e = g_.at(id);
    switch (e.kind) {
      case ExprKind::text:
        return text(g_.bytes(e), at);
      case ExprKind::chars:
        return chars(g_.set(e), at);
      case ExprKind::seq: {
        Places now{at};
        for (size_t i = 0; i < e.n; ++i) now = after(g_.child(e, i), now);
        return now;
      }
      case ExprKind::alt: {
        Places out;
        for (size_t i = 0; i < e.n; ++i) add(out, ends(g_.child(e, i), at));
        return out;
      }
      case ExprKind::repeat:
        return repeat(e, at);
      case ExprKind::rule:
        return ends(g_.body(e.first), at);
    }
    return {};
  }

  static void add(Places& out, const Places& more) { out.insert(more.begin(), more.end()); }

  Places after(ExprId id, const Places& from) {
    Places out;
    for (const size_t p : from) add(out, ends(id, p));
    return out;
  }

  Places text(std::string_view bytes, size_t at) {
    const std::string_view rest = text_.substr(at);
    if (rest.substr(0, bytes.size()) == bytes) return {at + bytes.size()};
    if (rest.size() < bytes.size() && bytes.substr(0, rest.size()) == rest) more_ = true;
    return {};
  }

  Places chars(const CharSet& set, size_t at) {
    const std::string_view rest = text_.substr(at);
    if (rest.empty()) {
      more_ = !set.empty() || more_;
      return {};
    }
    const Utf8Char c = utf8_read(rest, 0);
    if (c.valid) {
      for (const CharRange& r : set) {
        if (c.code >= r.lo && c.code <= r.hi) return {at + c.n_bytes};
      }
      return {};
    }
    if (c.truncated) more_ = more_ || any_begins_with(set, rest);
    return {};
  }

  static bool any_begins_with(const CharSet& set, std::string_view bytes) {
    // utf8_read says that they begin some character: these are the first and the last.
    const auto lead = static_cast<uint8_t>(bytes[0]);
    const int n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    char32_t lo = lead & (0x7F >> n);
    for (size_t i = 1; i < bytes.size(); ++i) lo = lo << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3F);
    const int missing = 6 * (n - static_cast<int>(bytes.size()));
    lo <<= missing;
    const char32_t hi = lo | ((char32_t{1} << missing) - 1);
    for (const CharRange& r : set) {
      for (char32_t c = std::max(r.lo, lo); c <= std::min(r.hi, hi); ++c) {
        std::string s;
        if (c < 0xD800 || c > 0xDFFF) utf8_append(s, c);
        if (!s.empty() && s.compare(0, bytes.size(), bytes) == 0) return true;
      }
    }
    return false;
  }

  Places repeat(const Expr& e, size_t at) {
    Places out, now{at};
    if (e.min == 0) out = now;
    // Longer than the text plus the empty turns adds nothing.
    for (uint32_t i = 1; i <= e.max && i <= e.min + text_.size() + 1 && !now.empty(); ++i) {
      now = after(g_.child(e, 0), now);
      if (i >= e.min) out.insert(now.begin(), now.end());
    }
    return out;
  }

  const Grammar& g_;
  std::string_view text_;
  std::map<std::pair<ExprId, size_t>, Places> known_;
  bool more_ = false;
};

}  // namespace ridge::grammar::twin
