// Text <-> token ids, as the model was trained: byte-level BPE, SentencePiece BPE with byte fallback, Gemma 4's BPE,
// WordPiece.
//
// A Tokenizer is immutable and may be used by any number of threads at once. It refuses what it would get wrong:
// unknown kinds and unknown pre-tokenisers are errors that name themselves and what is known. Truth: the published
// tokenizer.json files and golden/tokenizers; where the two disagree (Qwen's NFC), the original tokeniser.
//
// Whose text is it? Control tokens are recognised only where the caller says so. In `encode` that is parse_special; in
// `encode_segments` each piece of a rendered chat template says whether the template wrote it (trusted) or a person
// did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/vocab.h"

namespace ridge {

// One call takes at most this much text; offsets into it are 32 bits wide even after normalisation has trebled it.
inline constexpr size_t kMaxTextBytes = size_t{256} << 20;

struct EncodeOptions {
  bool add_special = false;          // BOS, EOS, SEP as the file asks
  bool parse_special = false;        // recognise control tokens in the text
  size_t max_bytes = kMaxTextBytes;  // a longer text is an error (at most kMaxTextBytes)
};

struct DecodeOptions {
  bool render_special = false;  // show control tokens' texts
  bool text_start = true;  // the ids begin a text: the space that encoding put before the first word is taken off again
};

struct TextSegment {
  std::string_view text;
  bool trusted = false;
};

struct SpecialIds {
  std::optional<int32_t> bos, eos, eot, eom, unk, sep, pad, mask, newline;
  std::optional<int32_t> fim_pre, fim_suf, fim_mid, fim_pad, fim_rep, fim_sep;
};

class Tokenizer {
 public:
  // Errors: unsupported (kind or pre-tokeniser, with the list of those known), bad_file (what contradicts itself),
  // limit.
  static Result<std::unique_ptr<Tokenizer>> create(VocabData vocab);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Without parse_special no id of a control token comes out (but BOS and the like where add_special asks for them).
  // Tokens typed user-defined are recognised always, as the reference does, except Gemma 4's markers, which are control
  // tokens in all but type.
  Result<std::vector<int32_t>> encode(std::string_view text, EncodeOptions options = {}) const;

  // The segments are one text: words may reach across borders. Special tokens are recognised only where all their bytes
  // are trusted; in the rest, user-defined tokens only if they do not look like markers (<...>, [...]; HTML tags do not
  // count).
  Result<std::vector<int32_t>> encode_segments(std::span<const TextSegment> segments, bool add_special = false) const;

  // The bytes of one token, which may be part of a character; "" for an id outside the vocabulary, and for control
  // tokens unless render_special.
  std::string_view piece(int32_t id, bool render_special = false) const;

  // decode(encode(x)) is x, byte for byte, if x is UTF-8 (in form C where the tokeniser normalises; WordPiece loses
  // case and accents). The result may be invalid UTF-8 where the ids end inside a character; Detokenizer deals with
  // that.
  std::string decode(std::span<const int32_t> ids, DecodeOptions options = {}) const;

  int32_t n_vocab() const;
  const SpecialIds& special() const;
  bool adds_bos() const;
  bool is_control(int32_t id) const;
  bool is_eog(int32_t id) const;  // ends the generation: eos, eot, eom and the known end markers
  std::span<const int32_t> eog_ids() const;
  std::optional<int32_t> find_special(
      std::string_view text) const;  // a control or user-defined token by its exact text
  // Whether the first word of a text got a space in front (SentencePiece), which decoding takes off again.
  bool strips_first_space() const;
  // Control, user-defined and unknown tokens: a word behind one begins anew.
  bool breaks_text(int32_t id) const;

  std::string_view kind() const;                     // "llama", "gpt2", "gemma4", "bert"
  std::string_view pre() const;                      // the pre-tokeniser in force, "" where the kind has none
  const std::vector<std::string>& warnings() const;  // what was odd in the file and ignored
  size_t memory_bytes() const;                       // tables and scratch now held

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridge
