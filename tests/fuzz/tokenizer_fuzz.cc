// Any bytes as text, and any bytes as a vocabulary. The first byte says which:
//   0..3   a built-in vocabulary (byte-level, SentencePiece, Gemma 4, WordPiece); the second byte picks the
//   pre-tokeniser, the third
//          the options; the rest is text
//   other  the second byte is the kind; up to the first FF byte follow tokens, each of a length byte (0..15), a type
//   byte and its
//          text, then merges of a length byte and text up to the next FF; the rest is text
// Holds: ids are inside the vocabulary; without parse_special no control token appears; all-untrusted segments never
// give one either; decode(encode(x)) is x where that is promised; a second encoding (from the word cache) equals the
// first.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../test_vocabs.h"
#include "text/detokenizer.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"

namespace {

using namespace ridge;

constexpr size_t kMaxInputBytes = size_t{1} << 16;

void require(bool ok) {
  if (!ok) std::abort();
}

// Built-in ones are made once; with the byte-level one for each pre-tokeniser that spells bytes.
const Tokenizer& built_in(uint8_t kind, uint8_t pre) {
  static std::vector<std::unique_ptr<Tokenizer>> made(3 + text::pretokenizers().size());
  const size_t n_pre = text::pretokenizers().size();
  const size_t at = kind == 0 ? 3 + pre % n_pre : kind - size_t{1};
  if (made[at] == nullptr) {
    VocabData v = kind == 1   ? testing::spm_vocab()
                  : kind == 2 ? testing::gemma_vocab()
                  : kind == 3 ? testing::wordpiece_vocab()
                              : testing::byte_level_vocab(std::string(text::pretokenizers()[pre % n_pre].name));
    auto tokenizer = Tokenizer::create(std::move(v));
    require(tokenizer.has_value());
    made[at] = std::move(*tokenizer);
  }
  return *made[at];
}

void check(const Tokenizer& t, std::string_view text, bool add_special, bool parse_special, bool comes_back) {
  const EncodeOptions options{.add_special = add_special, .parse_special = parse_special};
  const auto ids = t.encode(text, options);
  require(ids.has_value());
  for (const int32_t id : *ids) require(id >= 0 && id < t.n_vocab());
  const auto again = t.encode(text, options);
  require(again.has_value() && *again == *ids);
  const auto controls = [&](const std::vector<int32_t>& some) {
    size_t n = 0;
    for (const int32_t id : some) n += t.is_control(id) && id != t.special().unk;
    return n;
  };
  if (!add_special && !parse_special) {
    require(controls(*ids) == 0);
    if (comes_back) require(t.decode(*ids) == text);
  }
  const TextSegment untrusted[] = {{text.substr(0, text.size() / 2), false}, {text.substr(text.size() / 2), false}};
  const auto segments = t.encode_segments(untrusted);
  require(segments.has_value() && controls(*segments) == 0);
  Detokenizer stream(t, {.render_special = true, .text_start = true});
  for (const int32_t id : *ids) {
    stream.push(id);
    require(stream.n_held_bytes() <= 3);
  }
}

struct Cursor {
  const uint8_t* p;
  const uint8_t* end;
  int byte() { return p < end ? *p++ : -1; }
  std::string_view take(size_t n) {
    n = std::min(n, static_cast<size_t>(end - p));
    const std::string_view s(reinterpret_cast<const char*>(p), n);
    p += n;
    return s;
  }
};

VocabData any_vocabulary(Cursor& in) {
  static constexpr const char* kModels[] = {"gpt2", "llama", "gemma4", "bert", "t5"};
  static constexpr const char* kPres[] = {"gpt-2",      "llama-bpe",   "qwen2",  "gemma4",
                                          "whitespace", "deepseek-v3", "tekken", "none"};
  VocabData v;
  const int kind = std::max(0, in.byte());
  v.model = kModels[kind % 5];
  v.pre = kPres[kind / 5 % 8];
  v.model_name = kind >= 128 ? "phi-3" : "";
  for (int n = in.byte(); n >= 0 && n != 0xFF && v.tokens.size() < 200; n = in.byte()) {
    v.token_types.push_back(in.byte());
    v.tokens.emplace_back(in.take(static_cast<size_t>(n) & 15));
    v.scores.push_back(static_cast<float>(n));
  }
  for (int n = in.byte(); n >= 0 && n != 0xFF && v.merges.size() < 200; n = in.byte()) {
    v.merges.emplace_back(in.take(static_cast<size_t>(n) & 31));
  }
  v.bos = in.byte(), v.eos = in.byte(), v.unk = in.byte();
  v.add_bos = (kind & 1) != 0, v.add_eos = (kind & 2) != 0;
  return v;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3 || size > kMaxInputBytes) return 0;
  Cursor in{data, data + size};
  const int mode = in.byte();
  if (mode <= 3) {
    const auto pre = static_cast<uint8_t>(in.byte());
    const int options = in.byte();
    const Tokenizer& t = built_in(static_cast<uint8_t>(mode), pre);
    const std::string_view text = in.take(size);
    const bool normalises = mode == 0 && text::find_pretokenizer(t.pre()).value()->nfc;
    // U+2581 is a space to SentencePiece and its like; the raw ones without escaped spaces have no bytes to spell with.
    const bool spaces =
        text.find("\xE2\x96\x81") == text.npos || (mode == 0 && text::find_pretokenizer(t.pre()).value()->byte_level);
    const bool spells = mode == 1 || mode == 2 || (mode == 0 && text::find_pretokenizer(t.pre()).value()->byte_level);
    check(t, text, options & 1, options & 2, spells && spaces && !normalises);
    return 0;
  }
  const auto t = Tokenizer::create(any_vocabulary(in));
  if (!t) {
    require(!t.error().message.empty());
    return 0;
  }
  check(**t, in.take(size), false, false, false);
  check(**t, std::string_view(reinterpret_cast<const char*>(data), size), true, true, false);
  for (int32_t id = -1; id <= (*t)->n_vocab(); ++id) (*t)->piece(id, true);
  return 0;
}
