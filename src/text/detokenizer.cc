// The streaming detokeniser; detokenizer.h says what it promises.
#include "text/detokenizer.h"

#include "base/utf8.h"

namespace ridge {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

void Utf8Stream::push(std::string_view bytes, std::string& out) {
  // The held bytes are the beginning of one character: settle it first, with as many of the new bytes as it takes.
  while (n_held_ > 0 && !bytes.empty()) {
    held_[n_held_++] = bytes.front();
    const Utf8Char c = utf8_read({held_, n_held_}, 0);
    if (c.truncated) {
      bytes.remove_prefix(1);
      continue;
    }
    if (c.valid) {
      bytes.remove_prefix(1);
      out.append(held_, n_held_);
    } else {
      out.append(kReplacement);  // for what was held; the new byte is looked at on its own below
    }
    n_held_ = 0;
  }
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = utf8_read(bytes, at);
    if (c.truncated) {
      n_held_ = bytes.copy(held_, 3, at);
      return;
    }
    if (c.valid) {
      out.append(bytes.substr(at, c.n_bytes));
    } else {
      out.append(kReplacement);
    }
    at += c.n_bytes;
  }
}

void Utf8Stream::finish(std::string& out) {
  if (n_held_ > 0) out.append(kReplacement);
  n_held_ = 0;
}

Detokenizer::Detokenizer(const Tokenizer& tokenizer, DetokenizerOptions options)
    : tokenizer_(&tokenizer), options_(options), strip_(options.text_start && tokenizer.strips_first_space()) {}

std::string Detokenizer::push(int32_t id) {
  std::string out;
  if (id < 0 || id >= tokenizer_->n_vocab()) return out;
  std::string_view bytes = tokenizer_->piece(id, options_.render_special);
  if (tokenizer_->breaks_text(id)) {
    strip_ = tokenizer_->strips_first_space();
  } else {
    if (strip_ && !bytes.empty() && bytes[0] == ' ') bytes.remove_prefix(1);
    strip_ = false;
  }
  stream_.push(bytes, out);
  return out;
}

std::string Detokenizer::finish() {
  std::string out;
  stream_.finish(out);
  return out;
}

}  // namespace ridge
