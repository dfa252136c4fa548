// Engine: one loaded model and one thread that owns all mutable state. step() = schedule -> forward -> sample ->
// commit. Thread-safety: all methods may be called from any thread at any time; an EventStream belongs to one reader.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/account.h"
#include "ridge/model_info.h"
#include "ridge/options.h"
#include "ridge/request.h"
#include "ridge/result.h"

namespace ridge {

struct Message {
  std::string role;  // "system", "user", "assistant", ...
  std::string content;
};

struct ChatOptions {
  bool add_generation_prompt = true;
  std::string variables_json;  // further template variables as a JSON object ("enable_thinking": false); "" = none
};

struct ChatPrompt {
  std::string text;      // as the template rendered it
  double render_ms = 0;  // of the call, what the template took; the rest is tokenising
  std::vector<int32_t>
      tokens;  // control tokens only where the template itself wrote them, never from a message's content
};

// Reads a request's events. Destroying it before the terminal event cancels the request.
class EventStream {
 public:
  struct State;  // the library's own
  explicit EventStream(std::shared_ptr<State> state);
  EventStream(EventStream&&) noexcept;
  EventStream& operator=(EventStream&&) noexcept;
  ~EventStream();

  // Waits for the next event; nullopt once the terminal event has been given out.
  std::optional<Event> next();
  // The request ends with Finished{cancelled} within a step. Any thread.
  void cancel();

  // For readers that must not wait. nullopt: nothing is there now, or (ended()) the terminal event has been given out.
  std::optional<Event> try_next();
  bool ended() const;
  // Called on the engine's thread after each event; must be quick and must not call the stream. Once on_event({})
  // returns, the former function is not running and will not be called again.
  void on_event(std::function<void()> wake);

 private:
  std::shared_ptr<State> state_;
};

// What the engine is doing at this moment, and what it has done since it was loaded.
struct EngineStats {
  int32_t n_running = 0, n_waiting = 0;  // requests admitted, and accepted but not yet admitted
  int32_t n_kv_blocks = 0, n_kv_blocks_free = 0;
  uint64_t n_steps = 0, n_step_sequences = 0;  // forward passes, and the sequences that took part, summed up
};

class Engine {
 public:
  // Errors: not_found, io, bad_file (the model file), unsupported (architecture, format, tokeniser: named, with those
  // supported), out_of_memory (predicted bytes by owner and the largest context that fits), invalid_argument (options).
  static Result<std::unique_ptr<Engine>> load(const EngineOptions& options);
  ~Engine();  // running requests end as cancelled
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const ModelInfo& model() const;
  const LoadAccount& load_account() const;
  MemoryBook memory() const;
  ExecutedPath path() const;
  EngineStats stats() const;

  // add_special: BOS/EOS as the file asks. parse_special: control tokens written in the text become their ids.
  Result<std::vector<int32_t>> tokenize(std::string_view text, bool add_special, bool parse_special) const;
  std::string detokenize(std::span<const int32_t> ids, bool show_special) const;
  // The bytes of one token as they stand in the vocabulary, which may be a part of a character; "" outside it.
  std::string token_bytes(int32_t id) const;

  // Errors: unsupported (no template), template_error (its message, with the line).
  Result<ChatPrompt> chat_prompt(std::span<const Message> messages, const ChatOptions& options = {}) const;

  // Errors: invalid_argument (a field, its value, its range; a constraint, with the place in it), context_exceeded
  // (both lengths), limit (n_parallel + max_queue requests are accepted and not ended; a constraint too large).
  Result<EventStream> submit(Request request);

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridge
