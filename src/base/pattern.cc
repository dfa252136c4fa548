// Parser: recursive descent over the pattern into a syntax tree, then from the tree, back to front, into states.
#include "base/pattern.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ridge {

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Result<Pattern> run() {
    RIDGE_TRY(const NodePtr tree, alternatives(0));
    if (at_ < text_.size()) return wrong("expected a '(' before this ')'");
    const uint32_t match = add({.kind = Pattern::Kind::match});
    RIDGE_TRY(out_.start_, emit(*tree, match));
    return std::move(out_);
  }

 private:
  static constexpr int kMaxRepeat = 1000, kEndless = -1;
  struct Node;
  using NodePtr = std::unique_ptr<Node>;
  enum class Op : uint8_t { set, begin, end, sequence, choice, repeat };
  struct Node {
    Op op = Op::sequence;
    uint32_t set = 0;
    int least = 0, most = 0;  // of a repeat; kEndless: no upper limit
    std::vector<NodePtr> parts = {};
  };

  template <class... A>
  static NodePtr node(A... a) {
    return std::make_unique<Node>(Node{a...});
  }
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_argument, "pattern '{}', byte {}: {}", text_, at_ + 1, what);
  }
  bool more() const { return at_ < text_.size(); }
  bool take(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  uint32_t keep(const std::bitset<256>& set) {
    out_.sets_.push_back(set);
    return static_cast<uint32_t>(out_.sets_.size() - 1);
  }
  uint32_t add(Pattern::State s) {
    out_.states_.push_back(s);
    return static_cast<uint32_t>(out_.states_.size() - 1);
  }

  Result<NodePtr> alternatives(int depth) {
    if (depth > Pattern::kMaxDepth) return wrong("too many groups inside one another");
    NodePtr choice = node(Op::choice);
    do {
      NodePtr sequence = node(Op::sequence);
      while (more() && text_[at_] != '|' && text_[at_] != ')') {
        RIDGE_TRY(NodePtr part, repeated(depth));
        sequence->parts.push_back(std::move(part));
      }
      choice->parts.push_back(std::move(sequence));
    } while (take('|'));
    return choice;
  }

  Result<NodePtr> repeated(int depth) {
    RIDGE_TRY(NodePtr one, atom(depth));
    while (more()) {
      int least = 0, most = kEndless;
      if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (take('{')) {
        RIDGE_CHECK_OK(counts(least, most));
      } else if (!take('*')) {
        break;
      }
      take('?');  // whether greedy or not makes no difference to being found
      NodePtr all = node(Op::repeat, 0u, least, most);
      all->parts.push_back(std::move(one));
      one = std::move(all);
    }
    return one;
  }

  std::optional<int> number() {
    std::optional<int> n;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9' && n.value_or(0) <= kMaxRepeat)
      n = n.value_or(0) * 10 + (text_[at_++] - '0');
    return n;
  }

  Result<void> counts(int& least, int& most) {
    const std::optional<int> low = number();
    if (!low) return wrong("expected a number after '{'");
    least = most = *low;
    if (take(',')) most = number().value_or(kEndless);
    if (!take('}')) return wrong("expected '}'");
    if (least > kMaxRepeat || most > kMaxRepeat) return wrong("expected at most 1000 repetitions");
    if (most != kEndless && most < least) return wrong("expected the larger number second");
    return {};
  }

  Result<NodePtr> atom(int depth) {
    if (take('(')) {
      if (take('?') && !take(':')) return wrong("groups that begin with '(?' are not understood, except '(?:'");
      RIDGE_TRY(NodePtr inside, alternatives(depth + 1));
      if (!take(')')) return wrong("expected ')'");
      return inside;
    }
    if (take('^')) return node(Op::begin);
    if (take('$')) return node(Op::end);
    if (take('.')) return node(Op::set, keep(~std::bitset<256>()));
    if (take('[')) return bracket();
    if (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?' || text_[at_] == '{')
      return wrong("nothing to repeat");
    std::bitset<256> set;
    if (take('\\')) {
      RIDGE_TRY(set, escape());
    } else {
      set.set(static_cast<unsigned char>(text_[at_++]));
    }
    return node(Op::set, keep(set));
  }

  Result<std::bitset<256>> escape() {
    if (!more()) return wrong("expected a character after '\\'");
    const char c = text_[at_++];
    std::bitset<256> set;
    const auto range = [&set](char from, char to) {
      for (int i = from; i <= to; ++i) set.set(static_cast<size_t>(i));
    };
    switch (c) {
      case 'w':
      case 'W':
        range('a', 'z'), range('A', 'Z'), range('_', '_');
        [[fallthrough]];
      case 'd':
      case 'D':
        range('0', '9');
        break;
      case 's':
      case 'S':
        range('\t', '\r'), range(' ', ' ');
        break;
      default:
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
          return wrong("this letter or digit has no meaning after '\\'");
        set.set(static_cast<unsigned char>(c));
    }
    return c == 'W' || c == 'D' || c == 'S' ? ~set : set;
  }

  Result<NodePtr> bracket() {
    const bool is_negated = take('^');
    std::bitset<256> all;
    bool is_first = true;
    while (is_first || !more() || text_[at_] != ']') {
      if (!more()) return wrong("expected ']'");
      is_first = false;
      if (take('\\')) {
        RIDGE_TRY(const auto set, escape());
        all |= set;
        continue;
      }
      const auto from = static_cast<unsigned char>(text_[at_++]);
      auto to = from;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        to = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
        if (to == '\\' || to < from) return wrong("this range is none");
      }
      for (size_t c = from; c <= to; ++c) all.set(c);
    }
    ++at_;
    return node(Op::set, keep(is_negated ? ~all : all));
  }

  // The state from which the node's text leads to `next`.
  Result<uint32_t> emit(const Node& n, uint32_t next) {
    if (out_.states_.size() > Pattern::kMaxStates)
      return fail(ErrorCode::limit, "pattern '{}': more than {} states, with its repetitions written out", text_,
                  Pattern::kMaxStates);
    switch (n.op) {
      case Op::set:
        return add({.kind = Pattern::Kind::set, .next = next, .set = n.set});
      case Op::begin:
        return add({.kind = Pattern::Kind::begin, .next = next});
      case Op::end:
        return add({.kind = Pattern::Kind::end, .next = next});
      case Op::sequence:
        for (size_t i = n.parts.size(); i-- > 0;) {
          RIDGE_TRY(next, emit(*n.parts[i], next));
        }
        return next;
      case Op::choice: {
        RIDGE_TRY(uint32_t first, emit(*n.parts.back(), next));
        for (size_t i = n.parts.size() - 1; i-- > 0;) {
          RIDGE_TRY(const uint32_t way, emit(*n.parts[i], next));
          first = add({.kind = Pattern::Kind::split, .next = way, .other = first});
        }
        return first;
      }
      case Op::repeat:
        return emit_repeat(n, next);
    }
    return next;
  }

  Result<uint32_t> emit_repeat(const Node& n, uint32_t next) {
    const Node& one = *n.parts[0];
    uint32_t here = next;
    if (n.most == kEndless) {
      const uint32_t loop = add({.kind = Pattern::Kind::split, .other = next});
      RIDGE_TRY(const uint32_t body, emit(one, loop));
      out_.states_[loop].next = body;
      here = loop;
    } else {
      for (int i = n.least; i < n.most; ++i) {
        RIDGE_TRY(const uint32_t body, emit(one, here));
        here = add({.kind = Pattern::Kind::split, .next = body, .other = next});
      }
    }
    for (int i = 0; i < n.least; ++i) {
      RIDGE_TRY(here, emit(one, here));
    }
    return here;
  }

  std::string_view text_;
  size_t at_ = 0;
  Pattern out_;
};

Result<Pattern> Pattern::parse(std::string_view text) {
  if (text.size() > kMaxBytes)
    return fail(ErrorCode::limit, "a pattern of {} bytes, expected at most {}", text.size(), kMaxBytes);
  return PatternParser(text).run();
}

// Adds the states that are reached without reading a byte. seen[s] is the position after which s was last added.
void Pattern::follow(uint32_t first, size_t at, size_t size, std::vector<uint32_t>& list,
                     std::vector<size_t>& seen) const {
  std::vector<uint32_t> open{first};
  while (!open.empty()) {
    const uint32_t s = open.back();
    open.pop_back();
    if (seen[s] == at + 1) continue;
    seen[s] = at + 1;
    const State& state = states_[s];
    if (state.kind == Kind::split) {
      open.push_back(state.other);
      open.push_back(state.next);
    } else if ((state.kind == Kind::begin && at == 0) || (state.kind == Kind::end && at == size)) {
      open.push_back(state.next);
    } else if (state.kind == Kind::set || state.kind == Kind::match) {
      list.push_back(s);
    }
  }
}

bool Pattern::found_in(std::string_view text) const {
  std::vector<uint32_t> now, after;
  std::vector<size_t> seen(states_.size(), 0);
  for (size_t at = 0;; ++at) {
    follow(start_, at, text.size(), now, seen);
    after.clear();
    for (const uint32_t s : now) {
      if (states_[s].kind == Kind::match) return true;
      if (at < text.size() && sets_[states_[s].set][static_cast<unsigned char>(text[at])])
        follow(states_[s].next, at + 1, text.size(), after, seen);
    }
    if (at == text.size()) return false;
    std::swap(now, after);
  }
}

}  // namespace ridge
