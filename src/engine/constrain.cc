#include "engine/constrain.h"

#include "text/grammar/gbnf.h"
#include "text/grammar/regex.h"
#include "text/grammar/schema.h"

namespace ridge {
namespace {

constexpr size_t kMaxKept = 64;
constexpr size_t kMaxKeptBytes = size_t{64} << 20;  // automata and their sources; masks have a limit of their own

Result<grammar::Grammar> parse(const Constraint& c) {
  switch (c.kind) {
    case Constraint::Kind::gbnf:
      return grammar::parse_gbnf(c.text);
    case Constraint::Kind::json_schema:
      return grammar::parse_json_schema(c.text);
    case Constraint::Kind::json_object:
      return grammar::any_json_object();
    case Constraint::Kind::regex:
      return grammar::parse_regex(c.text);
    case Constraint::Kind::choices:
      return grammar::choices(c.choices);
  }
  return fail(ErrorCode::invalid_argument, "a constraint of an unknown kind");
}

std::string key_of(const Constraint& c) {
  std::string key(1, static_cast<char>(c.kind));
  key += c.text;
  for (const std::string& choice : c.choices) key += std::to_string(choice.size()) + ":" + choice;
  return key;
}

}  // namespace

Result<std::unique_ptr<grammar::TokenMatcher>> Constraints::matcher(const Constraint& constraint) {
  std::string key = key_of(constraint);
  {
    const std::lock_guard lock(mutex_);
    if (trie_ == nullptr) trie_ = std::make_shared<grammar::TokenTrie>(tokenizer_);
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->key != key) continue;
      kept_.splice(kept_.begin(), kept_, it);
      return std::make_unique<grammar::TokenMatcher>(it->masks);
    }
  }
  RIDGE_TRY(const grammar::Grammar parsed, parse(constraint));
  RIDGE_TRY(auto automaton, grammar::compile(parsed));
  const size_t bytes = automaton->memory_bytes() + key.size();
  auto masks = std::make_shared<grammar::MaskCache>(std::move(automaton), trie_);
  auto matcher = std::make_unique<grammar::TokenMatcher>(masks);
  keep({std::move(key), std::move(masks), bytes});
  return matcher;
}

void Constraints::keep(Kept kept) {
  const std::lock_guard lock(mutex_);
  kept_.push_front(std::move(kept));
  size_t bytes = 0, n = 0;
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    bytes += it->bytes;
    if (++n > kMaxKept || bytes > kMaxKeptBytes) {
      kept_.erase(it, kept_.end());
      return;
    }
  }
}

}  // namespace ridge
