// Ids, one at a time, to text that is whole UTF-8 at every moment. A character that ends in a later token is held back,
// at most three bytes; bytes that can no longer become a character come out as one U+FFFD for each maximal invalid part
// (Unicode 15, chapter 3.9), at once. A piece that really holds U+FFFD is an ordinary character. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace ridge {

// The part that knows no tokens: any bytes in, whole characters out.
class Utf8Stream {
 public:
  // Appends to `out` what is certain now.
  void push(std::string_view bytes, std::string& out);
  // The text ends here: what is held becomes U+FFFD.
  void finish(std::string& out);
  size_t n_held() const { return n_held_; }

 private:
  char held_[4] = {};
  size_t n_held_ = 0;
};

struct DetokenizerOptions {
  bool render_special = false;
  // True where the ids begin a text of their own. A continuation of a prompt (generation) keeps its first space.
  bool text_start = false;
};

class Detokenizer {
 public:
  // The tokenizer outlives the detokenizer.
  explicit Detokenizer(const Tokenizer& tokenizer, DetokenizerOptions options = {});
  // The text that this id makes certain; may be empty. Ids outside the vocabulary give nothing.
  std::string push(int32_t id);
  std::string finish();
  size_t n_held_bytes() const { return stream_.n_held(); }

 private:
  const Tokenizer* tokenizer_;
  DetokenizerOptions options_;
  bool strip_;
  Utf8Stream stream_;
};

}  // namespace ridge
