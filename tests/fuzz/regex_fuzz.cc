// Regular expressions: an expression, a zero byte, a text. Whatever is parsed either compiles or says why not, and
// accepts of the text what a naive matcher accepts.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/grammar/automaton.h"
#include "text/grammar/machine.h"
#include "text/grammar/naive_twin.h"
#include "text/grammar/regex.h"

namespace {

using namespace ridge;
using namespace ridge::grammar;

constexpr size_t kMaxInputBytes = 4096, kMaxNaivePattern = 200, kMaxNaiveText = 10;

void require(bool ok) {
  if (!ok) std::abort();
}

void check(std::string_view pattern, std::string_view text, Anchoring anchoring) {
  Grammar g;
  const auto body = regex_expr(g, pattern, anchoring);
  if (!body) return require(!body.error().message.empty());
  g.root = g.anonymous("regex", *body);
  const auto a = compile(g);
  if (!a) return require(!a.error().message.empty());
  for (ExprId i = 0; i < g.n_exprs(); ++i) {
    if (g.at(i).kind == ExprKind::repeat && g.at(i).min > 8) return;
  }
  if (pattern.size() > kMaxNaivePattern || text.size() > kMaxNaiveText) return;
  Machine m(**a);
  ConfigId at = m.start();
  for (const char c : text) at = m.step(at, static_cast<uint8_t>(c));
  require(m.ends(at) == twin::Naive(g, text).is_whole());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxInputBytes) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(all.find('\0'), all.size());
  const std::string_view text = all.substr(std::min(zero + 1, all.size()));
  check(all.substr(0, zero), text, Anchoring::whole);
  check(all.substr(0, zero), text, Anchoring::search);
  return 0;
}
