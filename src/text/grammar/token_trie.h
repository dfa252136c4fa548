// The vocabulary as a tree over the bytes of its tokens, laid out so that a walk reads memory forwards. Immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace ridge::grammar {

class TokenTrie {
 public:
  // Tokens that are text: no control tokens, nothing empty.
  explicit TokenTrie(const Tokenizer& tokenizer);
  // For tests: token i is pieces[i]; empty ones and those of `ends` are no text.
  TokenTrie(std::span<const std::string> pieces, std::span<const int32_t> ends);

  // Nodes in depth-first order; 0 is the root. The children of v are v + 1, end(v + 1), ... up to end(v).
  uint32_t n_nodes() const { return static_cast<uint32_t>(byte_.size()); }
  uint8_t byte(uint32_t v) const { return byte_[v]; }
  uint32_t end(uint32_t v) const { return end_[v]; }
  uint32_t depth(uint32_t v) const { return depth_[v]; }
  bool has_children(uint32_t v) const { return end_[v] > v + 1; }
  // Tokens that end in v; those of [first, last) are the tokens of a range of nodes.
  std::span<const int32_t> tokens(uint32_t v) const {
    return {tokens_.data() + first_token_[v], first_token_[v + 1] - first_token_[v]};
  }

  int32_t n_vocab() const { return n_vocab_; }
  size_t n_words() const { return (static_cast<size_t>(n_vocab_) + 31) / 32; }
  std::string_view piece(int32_t id) const;  // "" where it is no text
  std::span<const int32_t> ends() const { return ends_; }
  bool is_end(int32_t id) const;
  size_t n_max_depth() const { return max_depth_; }
  size_t memory_bytes() const;

 private:
  void build();

  int32_t n_vocab_ = 0;
  std::string text_;
  std::vector<uint32_t> text_at_;  // of token i, up to that of i + 1
  std::vector<int32_t> ends_;
  std::vector<uint8_t> byte_;
  std::vector<uint32_t> end_, first_token_, depth_;
  std::vector<int32_t> tokens_;
  size_t max_depth_ = 0;
};

}  // namespace ridge::grammar
