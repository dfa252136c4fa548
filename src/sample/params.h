// Sampling parameters (the struct is ridge/sampling.h's): the one table that describes each field once (name, flags,
// JSON key, range, help), from which command line flags, JSON parsing, help and echoes are made. Refuses: a value out
// of its range, NaN, a token id outside the vocabulary, an unknown sampler name; each by field, value found and range
// expected. Truth: the names, order and defaults that users of llama.cpp know; the ranges are this program's own.
// Thread-safety: plain values; the table is constant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ridge/sampling.h"

namespace ridge::sample {

struct SamplerName {
  SamplerKind kind;
  char letter;               // --sampler-seq
  std::string_view name;     // --samplers, and what is echoed
  std::string_view display;  // in the printed chain
  std::string_view aliases;  // further spellings, separated by ';'
};
std::span<const SamplerName> sampler_names();

inline constexpr int32_t kMaxProbs = 1024;  // n_probs: a full vocabulary for each token would be a denial of service
inline constexpr size_t kMaxLogitBias = 16384;   // entries
inline constexpr size_t kMaxSamplers = 32;       // entries of the order list
inline constexpr size_t kMaxBreakers = 64;       // DRY sequence breakers
inline constexpr size_t kMaxBreakerBytes = 128;  // of one breaker
inline constexpr int32_t kMaxContext = 1 << 24;  // tokens that a history window may hold

enum class FieldKind : uint8_t { real, integer, boolean, seed, samplers, sampler_letters, logit_bias, breakers };

struct SamplingField {
  std::string_view name;   // one word for messages; equals the JSON key where there is one
  std::string_view flags;  // command line spellings separated by ' '; empty: none
  std::string_view json;   // empty: no JSON key
  FieldKind kind;
  double min;  // for real and integer, both ends allowed
  double max;
  std::string_view help;
  std::variant<std::monostate, double SamplingParams::*, int32_t SamplingParams::*, bool SamplingParams::*> member;
};

std::span<const SamplingField> sampling_fields();

// By name, by JSON key, or by flag with its dashes; nullptr if none.
const SamplingField* find_sampling_field(std::string_view flag_or_key);

// Sets one field from text. Booleans take 1/on/true/enabled, 0/off/false/disabled, and "" for true (a bare flag).
// logit_bias and dry_sequence_breakers add to what is there. On error params is unchanged.
Result<void> set_field(SamplingParams& params, std::string_view flag_or_key, std::string_view value);

// The value as text, in the form that set_field reads (for echoes, help, and records); breakers in a form for people
// only.
std::string field_text(const SamplingParams& params, const SamplingField& field);

// One JSON entry {"15043": -1.5}; false in JSON is bias -infinity.
Result<void> add_logit_bias(SamplingParams& params, std::string_view token_id, double bias);

// All ranges, and what depends on the vocabulary: bias ids and n_probs. A top_k beyond the vocabulary is fine.
Result<void> validate(const SamplingParams& params, int32_t n_vocab);

// "logits -> ?penalties -> ... -> dist"; '?' marks what is present and neutral.
std::string describe_chain(const SamplingParams& params);

// True when the sampler would change nothing with these parameters.
bool is_neutral(const SamplingParams& params, SamplerKind kind);

}  // namespace ridge::sample
