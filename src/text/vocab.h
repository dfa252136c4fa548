// What a tokeniser is made of, as plain data. Whoever reads a model file fills it from the `tokenizer.ggml.*` keys; a
// key that is absent stays empty here, and Tokenizer::create supplies the default of the tokeniser's kind. Nothing here
// is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridge {

// The values of tokenizer.ggml.token_type. A number that is none of them is kept and treated as `undefined`.
enum class TokenType : int32_t {
  undefined = 0,
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

struct VocabData {
  std::string model;         // tokenizer.ggml.model: llama, gpt2, gemma4, bert
  std::string pre;           // tokenizer.ggml.pre; empty where the file has none
  std::string architecture;  // general.architecture
  std::string
      model_name;  // general.name: the one place where a file says that Phi-3's markers swallow the space after them

  std::vector<std::string> tokens;   // tokenizer.ggml.tokens
  std::vector<float> scores;         // tokenizer.ggml.scores; empty or one a token
  std::vector<int32_t> token_types;  // tokenizer.ggml.token_type; empty or one a token
  std::vector<std::string> merges;   // tokenizer.ggml.merges: "left right", the earlier the stronger

  // tokenizer.ggml.*_token_id. An id outside the vocabulary is ignored with a warning.
  std::optional<int64_t> bos, eos, eot, eom, unk, sep, pad, mask;
  std::optional<int64_t> fim_pre, fim_suf, fim_mid, fim_pad, fim_rep, fim_sep;

  // tokenizer.ggml.add_bos_token and its like
  std::optional<bool> add_bos, add_eos, add_sep;
  std::optional<bool> add_space_prefix;
  std::optional<bool> ignore_merges;
  std::optional<bool> lowercase, strip_accents;  // tokenizer.ggml.normalizer.*, WordPiece only
};

}  // namespace ridge
