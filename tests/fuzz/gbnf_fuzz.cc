// GBNF and the automaton: a grammar, a zero byte, a text. Whatever is parsed either compiles or says why not; what the
// automaton accepts of the text is what a naive matcher accepts; every mask has a token or says why not.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/grammar/gbnf.h"
#include "text/grammar/naive_twin.h"
#include "text/grammar/token_matcher.h"

namespace {

using namespace ridge;
using namespace ridge::grammar;

constexpr size_t kMaxInputBytes = 4096, kMaxNaiveGrammar = 200, kMaxNaiveText = 10;

void require(bool ok) {
  if (!ok) std::abort();
}

std::shared_ptr<const TokenTrie> vocabulary() {
  static const auto trie = [] {
    std::vector<std::string> pieces;
    for (int b = 0; b < 256; ++b) pieces.emplace_back(1, static_cast<char>(b));
    for (const char* p : {"ab", "abc", "aa", "\xE4\xB8", "\xE4\xB8\xAD", "((", "})", "\n\n"}) pieces.emplace_back(p);
    pieces.emplace_back("</s>");
    const int32_t end = static_cast<int32_t>(pieces.size()) - 1;
    return std::make_shared<const TokenTrie>(pieces, std::vector<int32_t>{end});
  }();
  return trie;
}

// The naive matcher repeats as often as it is told.
bool is_small(const Grammar& g) {
  for (ExprId i = 0; i < g.n_exprs(); ++i) {
    if (g.at(i).kind == ExprKind::repeat && g.at(i).min > 8) return false;
  }
  return true;
}

void compare(const Grammar& g, const Automaton& a, std::string_view text) {
  Machine m(a);
  ConfigId at = m.start();
  for (size_t n = 0; n <= text.size(); ++n) {
    if (m.failed()) return;
    twin::Naive naive(g, text.substr(0, n));
    require(m.ends(at) == naive.is_whole());
    // The other way round does not hold: the naive matcher also begins what can never end.
    if (at != Machine::kDead) require(twin::Naive(g, text.substr(0, n)).is_beginning());
    if (n < text.size()) at = m.step(at, static_cast<uint8_t>(text[n]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxInputBytes) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(all.find('\0'), all.size());
  const std::string_view source = all.substr(0, zero), text = all.substr(std::min(zero + 1, all.size()));
  const auto g = parse_gbnf(source);
  if (!g) {
    require(!g.error().message.empty());
    return 0;
  }
  const auto a = compile(*g);
  if (!a) {
    require(!a.error().message.empty());
    return 0;
  }
  if (source.size() <= kMaxNaiveGrammar && text.size() <= kMaxNaiveText && is_small(*g)) compare(*g, **a, text);
  TokenMatcher matcher(std::make_shared<MaskCache>(*a, vocabulary()));
  for (const char c : text.substr(0, 64)) {
    const auto mask = matcher.mask();
    if (!mask) return 0;
    const auto id = static_cast<uint8_t>(c);
    require(((*mask)[id / 32] >> (id % 32) & 1) == static_cast<uint32_t>(matcher.accept(id)));
  }
  return 0;
}
