// A model's numbers as its file states them: the `<arch>.*` keys, typed and checked before anything is sized by them.
// Owns the limits. Refuses, naming the key, what was found and what was expected: a missing key without a default, a
// value out of its range, numbers that contradict each other. No value from a file is used as a size before it passed
// here. Sources: the GGUF specification (ggml, docs/gguf.md) for the keys; llama.cpp's loader for the defaults where a
// key is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "file/gguf.h"

namespace ridge {

// Far above any published model (block_count: 126, expert_count: 512, vocabulary: 262 thousand), far below what could
// hurt.
inline constexpr int32_t kMaxLayers = 1024;
inline constexpr int32_t kMaxExperts = 1024;
inline constexpr int32_t kMaxHeads = 4096;
inline constexpr int32_t kMaxHeadDim = 4096;
inline constexpr int32_t kMaxEmbd = 1 << 18;
inline constexpr int32_t kMaxFf = 1 << 22;
inline constexpr int32_t kMaxVocab = 1 << 24;
inline constexpr int32_t kMaxContext = 1 << 30;

// Reads `<arch>.<suffix>` keys. Every error names the whole key. The file outlives it.
class ArchKeys {
 public:
  ArchKeys(const GgufFile& file, std::string_view arch) : file_(&file), arch_(arch) {}

  const GgufFile& file() const { return *file_; }
  std::string key(std::string_view suffix) const { return fmt::format("{}.{}", arch_, suffix); }
  bool has(std::string_view suffix) const { return file_->has(key(suffix)); }

  // An integer in [low, high].
  Result<int32_t> count(std::string_view suffix, int32_t low, int32_t high) const;
  Result<int32_t> count_or(std::string_view suffix, int32_t fallback, int32_t low, int32_t high) const;
  // One for each layer: an array of n, or a number that holds for all.
  Result<std::vector<int32_t>> per_layer(std::string_view suffix, size_t n, int32_t low, int32_t high) const;
  // A finite real in [low, high].
  Result<float> real(std::string_view suffix, float low, float high) const;
  Result<float> real_or(std::string_view suffix, float fallback, float low, float high) const;
  Result<bool> flag_or(std::string_view suffix, bool fallback) const;
  Result<std::string_view> text_or(std::string_view suffix, std::string_view fallback) const;

 private:
  const GgufFile* file_;
  std::string arch_;
};

enum class RopeScaling : uint8_t { none, linear, yarn, longrope };

// What the file says of positions; rope.h makes frequencies of it.
struct RopeHparams {
  int32_t n_rot = 0;  // dims of a head that turn; even
  float freq_base = 10000.0f;
  float freq_base_window = 10000.0f;  // of sliding-window layers, where the file tells them apart
  RopeScaling scaling = RopeScaling::none;
  float factor = 1.0f;     // positions are divided by it
  int32_t n_ctx_orig = 0;  // context before it was stretched
  float attn_factor = 1.0f;
  float ext_factor = 1.0f, beta_fast = 32.0f, beta_slow = 1.0f;  // YaRN
};

// What every transformer of this program has. What only one architecture has is in its own file.
struct Hparams {
  std::string arch, name;
  int32_t n_layer = 0, n_embd = 0, n_vocab = 0, n_ctx_train = 0;
  std::vector<int32_t> n_head, n_head_kv;  // by layer
  std::vector<int32_t> n_ff;               // by layer; 0 where the file gives none (all layers are experts)
  int32_t k_dim = 0, v_dim = 0;            // head_dim of keys (and queries) and of values
  float eps = 0;                           // of RMS norms
  RopeHparams rope;
};
// Errors: not_found, bad_file, unsupported (an unknown kind of RoPE scaling).
Result<Hparams> read_hparams(const ArchKeys& keys, std::string_view arch);

// A mixture of experts. n_expert == 0: none.
struct MoeHparams {
  int32_t n_expert = 0, n_used = 0;
  int32_t n_ff = 0;            // of one expert
  float weights_scale = 1.0f;  // the combined output's factor
  bool normalise = true;       // the chosen gate values are divided by their sum
};
// normalise: what the architecture does where the file does not say. An expert's width is expert_feed_forward_length,
// else `ff_fallback` (0: then the key must be there).
Result<MoeHparams> read_moe(const ArchKeys& keys, bool normalise, int32_t ff_fallback);

// Which layers attend to a window only: the file's per-layer array, or a period of which the last layer sees everything
// (period 2: layers 0, 2, 4, ... have the window), by default `period`.
Result<std::vector<bool>> read_window_layers(const ArchKeys& keys, int32_t n_layer, int32_t period);

}  // namespace ridge
