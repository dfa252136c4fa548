#include "text/grammar/token_trie.h"

#include <algorithm>

namespace ridge::grammar {

TokenTrie::TokenTrie(const Tokenizer& tokenizer) : n_vocab_(tokenizer.n_vocab()) {
  ends_.assign(tokenizer.eog_ids().begin(), tokenizer.eog_ids().end());
  for (int32_t id = 0; id < n_vocab_; ++id) {
    text_at_.push_back(static_cast<uint32_t>(text_.size()));
    if (!is_end(id) && !tokenizer.is_control(id)) text_ += tokenizer.piece(id);
  }
  build();
}

TokenTrie::TokenTrie(std::span<const std::string> pieces, std::span<const int32_t> ends)
    : n_vocab_(static_cast<int32_t>(pieces.size())), ends_(ends.begin(), ends.end()) {
  for (int32_t id = 0; id < n_vocab_; ++id) {
    text_at_.push_back(static_cast<uint32_t>(text_.size()));
    if (!is_end(id)) text_ += pieces[static_cast<size_t>(id)];
  }
  build();
}

bool TokenTrie::is_end(int32_t id) const {
  return std::find(ends_.begin(), ends_.end(), id) != ends_.end();
}

std::string_view TokenTrie::piece(int32_t id) const {
  if (id < 0 || id >= n_vocab_) return {};
  const auto i = static_cast<size_t>(id);
  return std::string_view(text_).substr(text_at_[i], text_at_[i + 1] - text_at_[i]);
}

// The sorted tokens are the depth-first order: each opens nodes below the prefix that it shares with the one before.
void TokenTrie::build() {
  text_at_.push_back(static_cast<uint32_t>(text_.size()));
  for (int32_t id = 0; id < n_vocab_; ++id) {
    if (!piece(id).empty()) tokens_.push_back(id);
  }
  std::sort(tokens_.begin(), tokens_.end(), [this](int32_t a, int32_t b) {
    const std::string_view x = piece(a), y = piece(b);
    return x != y ? x < y : a < b;
  });
  std::vector<uint32_t> path;  // of the token before: path[d] is its node of depth d
  const auto open = [&](uint8_t byte, uint32_t n_tokens_before) {
    path.push_back(n_nodes());
    byte_.push_back(byte);
    depth_.push_back(static_cast<uint32_t>(path.size() - 1));
    end_.push_back(0);
    first_token_.push_back(n_tokens_before);
    max_depth_ = std::max(max_depth_, path.size());
  };
  const auto close_to = [&](size_t n_kept) {
    for (; path.size() > n_kept; path.pop_back()) end_[path.back()] = n_nodes();
  };
  open(0, 0);
  std::string_view before;
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view text = piece(tokens_[i]);
    size_t shared = 0;
    while (shared < std::min(text.size(), before.size()) && text[shared] == before[shared]) ++shared;
    close_to(shared + 1);
    for (size_t d = shared; d < text.size(); ++d) open(static_cast<uint8_t>(text[d]), i);
    before = text;
  }
  close_to(0);
  first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
}

size_t TokenTrie::memory_bytes() const {
  return text_.size() + text_at_.size() * 4 + byte_.size() + (end_.size() + first_token_.size() + depth_.size()) * 4 +
         tokens_.size() * 4;
}

}  // namespace ridge::grammar
