// What every generating endpoint shares: the fields of a request that say how to generate, and the writer interface
// that turns a request's events into the endpoint's own text.
// Truth: the fields of OpenAI's interface and the extra ones of llama-server, with their spellings.
// Thread-safety: plain values; a writer has one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.h"
#include "ridge/request.h"

namespace ridge::api {

inline constexpr int kMaxChoices = 8;                // n
inline constexpr size_t kMaxPrompts = 64;            // prompts times n of one request
inline constexpr int kMaxTopLogprobs = 20;           // top_logprobs
inline constexpr size_t kMaxBiasEntries = 1024;      // logit_bias
inline constexpr size_t kMaxChoicesOfAnswer = 1024;  // guided_choice
inline constexpr size_t kMaxMessages = 4096;

// A prompt as it stands in the request: text, or ids where the client has tokenised.
struct Prompt {
  std::string text;
  std::vector<int32_t> tokens;
  bool is_tokens = false;
};

struct Generation {
  SamplingParams sampling;
  int32_t max_tokens = -1;
  std::vector<std::string> stop;
  std::optional<Constraint> constraint;
  int32_t n = 1;
  bool stream = false;
  bool include_usage = false;      // stream_options.include_usage
  bool timings_per_token = false;  // timings with every chunk
  bool accounts = false;           // the books of the request with its answer
  bool return_tokens = false;
  bool echo = false;
  int32_t n_logprobs = -1;  // -1: none asked for; else how many alternatives
};

// What the server knows before the first event.
struct AnswerHead {
  std::string id;     // without the endpoint's prefix
  std::string model;  // as it is shown
  int64_t created_s = 0;
  int32_t n_ctx = 0;
  std::vector<uint64_t> n_prompt;        // tokens, by choice
  std::vector<std::string> prompt_text;  // by choice, for echo and the native endpoint
  std::function<std::string(int32_t)> token_bytes;
  // The closed books of the finished request, with what was spent before it reached the engine.
  std::function<TimeBudget(const RequestAccount&)> whole_budget;
};

// Turns the events of a request's choices into text. Every choice ends in one finished() or failed(); then end() is
// called once. What is returned is written at once when streaming; else it is empty until end().
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  virtual std::string begin() { return {}; }
  virtual std::string token(size_t choice, const TokenEvent& event) = 0;
  virtual std::string finished(size_t choice, const Finished& event) = 0;
  virtual std::string failed(size_t choice, const Refusal& refusal) = 0;
  virtual std::string end() = 0;
  virtual int status() const { return 200; }  // of the whole answer; meaningful when not streaming
};

}  // namespace ridge::api
