// Pre-tokenisers: what cuts a text into the words inside which a byte-level BPE may merge. `tokenizer.ggml.pre` names
// one.
//
// Each was published as one or several regular expressions; here they are loops, because a regular-expression engine
// that backtracks is quadratic on a megabyte of one letter. Every loop looks at a character a bounded number of times.
// A name that is not in the table is refused: a wrong splitter gives plausible text and wrong ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/unicode.h"

namespace ridge::text {

// The piece of text that one stage of a pre-tokeniser sees: it knows nothing of what lies outside.
struct SplitInput {
  const char* base;  // offsets in `ends` count from here
  const char* begin;
  const char* end;
  const CharTable* table;
};

// Appends where each word ends, ascending, the last at `end`. Words are never empty.
using SplitStage = void (*)(const SplitInput&, std::vector<uint32_t>& ends);

struct PreTokenizer {
  std::string_view name;
  std::span<const SplitStage> stages;  // each works inside the words of the one before
  bool byte_level = true;              // bytes are spelled in GPT-2's alphabet; false: SentencePiece-like text
  bool escape_spaces = false;          // a space is U+2581
  bool newline_words = false;          // a word of newlines alone is looked up whole (Gemma 4)
  bool ignore_merges = false;          // a word that is a token is that token, whatever the merges say
  bool add_bos = false;                // where the file does not say
  bool nfc = false;                    // the original normalises to form C
};

// Error: unsupported, with the name and all known names. An empty name is "default", as files from before the key have
// it.
Result<const PreTokenizer*> find_pretokenizer(std::string_view name);
std::span<const PreTokenizer> pretokenizers();

// Runs all stages. `ends` and `spare` are scratch of the caller; the answer is in `ends`, counted from text.data().
void split_words(const PreTokenizer& pre, std::string_view text, std::vector<uint32_t>& ends,
                 std::vector<uint32_t>& spare);

// The stages, by what they do. split_words.cc: one expression that covers everything; split_sets.cc: runs of a set of
// characters, cut out of the rest.
void split_gpt2(const SplitInput&, std::vector<uint32_t>& ends);
void split_llama3(const SplitInput&, std::vector<uint32_t>& ends);
void split_qwen2(const SplitInput&, std::vector<uint32_t>& ends);
void split_qwen35(const SplitInput&, std::vector<uint32_t>& ends);
void split_jais2(const SplitInput&, std::vector<uint32_t>& ends);
void split_minicpm5(const SplitInput&, std::vector<uint32_t>& ends);
void split_seed_coder(const SplitInput&, std::vector<uint32_t>& ends);
void split_ufakzeka(const SplitInput&, std::vector<uint32_t>& ends);
void split_exaone_moe(const SplitInput&, std::vector<uint32_t>& ends);
void split_gpt4o(const SplitInput&, std::vector<uint32_t>& ends);
void split_tekken(const SplitInput&, std::vector<uint32_t>& ends);
void split_youtu_words(const SplitInput&, std::vector<uint32_t>& ends);
void split_kimi_k2(const SplitInput&, std::vector<uint32_t>& ends);
void split_deepseek3_words(const SplitInput&, std::vector<uint32_t>& ends);
void split_spark_words(const SplitInput&, std::vector<uint32_t>& ends);

void split_newline_runs(const SplitInput&, std::vector<uint32_t>& ends);
void split_each_newline(const SplitInput&, std::vector<uint32_t>& ends);
void split_each_number(const SplitInput&, std::vector<uint32_t>& ends);
void split_number_runs(const SplitInput&, std::vector<uint32_t>& ends);
void split_numbers_by_3(const SplitInput&, std::vector<uint32_t>& ends);
void split_ascii_digits_by_3(const SplitInput&, std::vector<uint32_t>& ends);
void split_digits_from_right(const SplitInput&, std::vector<uint32_t>& ends);
void split_numbers_from_right(const SplitInput&, std::vector<uint32_t>& ends);
void split_digits_before_boundary(const SplitInput&, std::vector<uint32_t>& ends);
void split_letters(const SplitInput&, std::vector<uint32_t>& ends);
void split_punctuation(const SplitInput&, std::vector<uint32_t>& ends);
void split_falcon_punctuation(const SplitInput&, std::vector<uint32_t>& ends);
void split_default_punctuation(const SplitInput&, std::vector<uint32_t>& ends);
void split_deepseek_letters(const SplitInput&, std::vector<uint32_t>& ends);
void split_deepseek_punctuation(const SplitInput&, std::vector<uint32_t>& ends);
void split_trailing_space(const SplitInput&, std::vector<uint32_t>& ends);
void split_deepseek_cjk(const SplitInput&, std::vector<uint32_t>& ends);
void split_deepseek3_cjk(const SplitInput&, std::vector<uint32_t>& ends);
void split_afmoe_scripts(const SplitInput&, std::vector<uint32_t>& ends);
void split_youtu_scripts(const SplitInput&, std::vector<uint32_t>& ends);
void split_bloom(const SplitInput&, std::vector<uint32_t>& ends);
void split_sentinels(const SplitInput&, std::vector<uint32_t>& ends);
void split_image_tokens(const SplitInput&, std::vector<uint32_t>& ends);
void split_chameleon_space(const SplitInput&, std::vector<uint32_t>& ends);
void split_each_punctuation(const SplitInput&, std::vector<uint32_t>& ends);
void split_non_space(const SplitInput&, std::vector<uint32_t>& ends);

}  // namespace ridge::text
