#include "text/grammar/token_matcher.h"

#include <bit>

#include "text/grammar/limits.h"

namespace ridge::grammar {
namespace {

// Where a state allows fewer tokens than this, a list is smaller and faster than a bit for each of the vocabulary.
constexpr size_t kMaxFew = 512;
constexpr size_t kMaxKeptMasks = 256;  // whole masks of one matcher: 19 kB each for 152k tokens

Error too_ambiguous() {
  return {ErrorCode::limit, fmt::format("the grammar is too ambiguous here: more than {} ways to read the text so far; "
                                        "make its alternatives begin differently",
                                        kMaxAlternatives)};
}

// Visits the nodes below `root` whose bytes lead somewhere from `config`. visit(node, config after it).
template <class Visit>
void walk(const TokenTrie& trie, Machine& machine, uint32_t root, ConfigId config, std::vector<ConfigId>& path,
          Visit visit) {
  path.resize(trie.n_max_depth() + 1);
  path[trie.depth(root)] = config;
  const uint32_t end = trie.end(root);
  for (uint32_t v = root + 1; v < end;) {
    const uint32_t depth = trie.depth(v);
    const ConfigId to = machine.next(path[depth - 1], trie.byte(v));
    if (to == Machine::kDead) {
      v = trie.end(v);
      continue;
    }
    visit(v, to);
    path[depth] = to;
    v = machine.tops(to).empty() ? trie.end(v) : v + 1;
  }
}

void set_bit(std::vector<uint32_t>& bits, int32_t id) {
  bits[static_cast<size_t>(id) / 32] |= uint32_t{1} << (id % 32);
}

}  // namespace

MaskCache::MaskCache(std::shared_ptr<const Automaton> automaton, std::shared_ptr<const TokenTrie> trie)
    : automaton_(std::move(automaton)), trie_(std::move(trie)), machine_(*automaton_) {}

Result<const StateMask*> MaskCache::of(StateId state) {
  if (const auto at = masks_.find(state); at != masks_.end()) return &at->second;
  if (bytes_ > kMaxMaskCacheBytes) masks_.clear(), bytes_ = 0;
  if (machine_.memory_bytes() > kMaxMachineBytes) machine_.restart(Machine::kDead);
  StateMask mask;
  found_.clear();
  walk(*trie_, machine_, 0, machine_.alone(state), path_, [&](uint32_t v, ConfigId to) {
    const std::span<const int32_t> tokens = trie_->tokens(v);
    found_.insert(found_.end(), tokens.begin(), tokens.end());
    if (machine_.ends(to) && trie_->has_children(v)) mask.leaving.push_back(v);
  });
  if (machine_.failed()) return tl::unexpected<Error>(too_ambiguous());
  if (found_.size() <= kMaxFew) {
    mask.few = found_;
  } else {
    mask.bits.assign(trie_->n_words(), 0);
    for (const int32_t id : found_) set_bit(mask.bits, id);
  }
  bytes_ += mask.bits.size() * 4 + mask.few.size() * 4 + mask.leaving.size() * 4 + 128;
  return &(masks_[state] = std::move(mask));
}

TokenMatcher::TokenMatcher(std::shared_ptr<MaskCache> cache)
    : cache_(std::move(cache)), machine_(cache_->automaton()), config_(machine_.start()) {}

size_t TokenMatcher::memory_bytes() const {
  return machine_.memory_bytes() + masks_.size() * (cache_->trie().n_words() * 4 + 64);
}

void TokenMatcher::add_subtree(uint32_t node, ConfigId config, std::vector<uint32_t>& bits) {
  const TokenTrie& trie = cache_->trie();
  walk(trie, machine_, node, config, path_, [&](uint32_t v, ConfigId) {
    for (const int32_t id : trie.tokens(v)) set_bit(bits, id);
  });
}

Result<void> TokenMatcher::add_top(NodeId top, std::vector<uint32_t>& bits) {
  const Machine::Node node = machine_.node(top);
  RIDGE_TRY(const StateMask* mask, cache_->of(node.state));
  for (size_t i = 0; i < mask->bits.size(); ++i) bits[i] |= mask->bits[i];
  for (const int32_t id : mask->few) set_bit(bits, id);
  if (node.below == Machine::kBase || mask->leaving.empty()) return {};
  const ConfigId below = machine_.at(node.below);
  if (below == Machine::kDead || machine_.tops(below).empty()) return {};
  for (const uint32_t v : mask->leaving) add_subtree(v, below, bits);
  return {};
}

Result<const TokenMatcher::Kept*> TokenMatcher::current() {
  if (const auto at = masks_.find(config_); at != masks_.end()) return &at->second;
  if (masks_.size() >= kMaxKeptMasks) masks_.clear();
  if (machine_.memory_bytes() > kMaxMachineBytes) {
    masks_.clear();
    config_ = machine_.restart(config_);
  }
  Kept kept;
  kept.bits.assign(cache_->trie().n_words(), 0);
  const std::span<const NodeId> tops = machine_.tops(config_);
  for (const NodeId top : std::vector<NodeId>(tops.begin(), tops.end())) RIDGE_CHECK_OK(add_top(top, kept.bits));
  if (machine_.failed()) return tl::unexpected<Error>(too_ambiguous());
  if (may_end()) {
    for (const int32_t id : cache_->trie().ends()) set_bit(kept.bits, id);
  }
  for (const uint32_t word : kept.bits) kept.n_allowed += static_cast<uint32_t>(std::popcount(word));
  return &(masks_[config_] = std::move(kept));
}

Result<std::span<const uint32_t>> TokenMatcher::mask() {
  RIDGE_TRY(const Kept* kept, current());
  if (kept->n_allowed == 0) {
    return fail(ErrorCode::invalid_argument,
                "no token of this model's vocabulary goes on as the grammar demands at this place");
  }
  return std::span<const uint32_t>(kept->bits);
}

Result<std::optional<int32_t>> TokenMatcher::forced() {
  RIDGE_TRY(const Kept* kept, current());
  if (kept->n_allowed != 1) return std::optional<int32_t>();
  size_t word = 0;
  while (kept->bits[word] == 0) ++word;
  return std::optional(static_cast<int32_t>(word * 32) + std::countr_zero(kept->bits[word]));
}

bool TokenMatcher::accept(int32_t token) {
  if (ended_) return false;
  if (cache_->trie().is_end(token)) return ended_ = may_end();
  const std::string_view piece = cache_->trie().piece(token);
  if (piece.empty()) return false;
  ConfigId at = config_;
  for (const char c : piece) {
    at = machine_.step(at, static_cast<uint8_t>(c));
    if (at == Machine::kDead) return false;
  }
  config_ = at;
  return true;
}

size_t TokenMatcher::accept_text(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const ConfigId to = ended_ ? Machine::kDead : machine_.step(config_, static_cast<uint8_t>(bytes[i]));
    if (to == Machine::kDead) return i;
    config_ = to;
  }
  return bytes.size();
}

}  // namespace ridge::grammar
