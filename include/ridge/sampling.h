// How a token is chosen: llama.cpp's parameters with its names, order and defaults. Ranges, flags, JSON keys and help
// of each field stand in one table (src/sample/params_tables.cc; `ridge run --help` prints it). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridge {

enum class SamplerKind : uint8_t { penalties, dry, top_n_sigma, top_k, typical, top_p, min_p, xtc, temperature };

// Added to the raw logit before everything else; -infinity bans the token.
struct LogitBias {
  int32_t token = 0;
  float bias = 0;
};

struct SamplingParams {
  std::optional<uint64_t> seed;  // nullopt (written -1): the caller draws one, sets it, and reports it
  double temperature = 0.80;     // <= 0: the highest logit, lowest id among equals
  double dynatemp_range = 0.0;
  double dynatemp_exponent = 1.0;
  int32_t top_k = 40;
  double top_p = 0.95;
  double min_p = 0.05;
  double top_n_sigma = -1.0;
  double typical_p = 1.0;
  double xtc_probability = 0.0;
  double xtc_threshold = 0.10;
  int32_t repeat_last_n = 64;
  double repeat_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  double dry_multiplier = 0.0;
  double dry_base = 1.75;
  int32_t dry_allowed_length = 2;
  int32_t dry_penalty_last_n = 64;
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
  bool dry_breakers_are_default = true;  // the first breaker that is given replaces the default ones
  int32_t mirostat = 0;
  double mirostat_tau = 5.0;
  double mirostat_eta = 0.10;
  int32_t min_keep = 0;
  int32_t n_probs = 0;
  bool logprobs = false;  // log-probability of the chosen token even where n_probs is 0
  bool post_sampling_probs = false;
  bool ignore_eos = false;
  std::vector<LogitBias> logit_bias;
  std::vector<SamplerKind> samplers = {SamplerKind::penalties, SamplerKind::dry,     SamplerKind::top_n_sigma,
                                       SamplerKind::top_k,     SamplerKind::typical, SamplerKind::top_p,
                                       SamplerKind::min_p,     SamplerKind::xtc,     SamplerKind::temperature};
};

}  // namespace ridge
