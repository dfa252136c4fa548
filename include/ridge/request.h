// A request to an engine and the events that answer it. Plain values.
// Every accepted request ends in exactly one terminal event: Finished or Failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ridge/account.h"
#include "ridge/result.h"
#include "ridge/sampling.h"

namespace ridge {

// What an answer must look like: enforced token by token. A constraint that cannot be enforced is an error of submit().
struct Constraint {
  enum class Kind : uint8_t { gbnf, json_schema, json_object, regex, choices };
  Kind kind = Kind::gbnf;
  std::string text;                  // the grammar, the schema, the expression
  std::vector<std::string> choices;  // of Kind::choices: the answer is one of these
};

struct Request {
  std::vector<int32_t> tokens;  // the prompt, at least one token
  SamplingParams sampling;
  int32_t max_tokens = -1;            // -n; -1: until the model ends its answer or the context is full; 0: prefill only
  std::vector<std::string> stop;      // at most 16 strings of at most 256 bytes; never shown, not even in part
  std::optional<Constraint> grammar;  // what the answer must match; it ends where nothing more may follow
  bool show_special = false;          // write control tokens as text
  bool text_continues =
      true;  // the answer goes on inside a text; false drops the space that a tokeniser puts before a first word
};

struct TokenProbability {
  int32_t id = 0;
  float logprob = 0;  // natural logarithm, from the raw logits
};

struct TokenEvent {
  int32_t id = 0;
  std::string text;              // whole UTF-8; empty while a character or a possible stop string is unfinished
  std::optional<float> logprob;  // of this token, when asked for
  std::vector<TokenProbability> top;
  // Wall time so far: from admission to the first token, and from there to this one.
  double prompt_ms = 0, predicted_ms = 0;
};

enum class FinishReason : uint8_t {
  end_of_generation,  // the model's own end token
  stop_string,
  max_tokens,
  context_full,
  cancelled,
};
std::string_view to_string(FinishReason reason);

struct Finished {
  FinishReason reason = FinishReason::end_of_generation;
  std::string text;         // what was held back and is now known to be answer
  std::string stop_string;  // the one that matched
  uint64_t seed = 0;        // that was used
  RequestAccount account;
};

struct Failed {
  Error error;
  RequestAccount account;
};

using Event = std::variant<TokenEvent, Finished, Failed>;

}  // namespace ridge
