// The C face of engine.h: handles are the C++ objects, errors become a code and a message kept for the thread.
#include "ridge/c_api.h"

#include <algorithm>

#include "ridge/engine.h"
#include "sample/params.h"

struct ridge_engine {
  std::unique_ptr<ridge::Engine> engine;
};

struct ridge_stream {
  ridge::EventStream stream;
  std::string text;  // what the last event's `text` points to
};

namespace {

thread_local std::string g_last_error;

ridge_status failed(const ridge::Error& error) {
  g_last_error = error.message;
  return static_cast<ridge_status>(static_cast<int>(error.code) + 1);
}
static_assert(static_cast<int>(ridge::ErrorCode::internal) + 1 == RIDGE_INTERNAL);

ridge_status copy_ids(const std::vector<int32_t>& found, int32_t* ids, size_t capacity, size_t* n) {
  *n = found.size();
  std::copy_n(found.begin(), std::min(capacity, found.size()), ids);
  if (found.size() <= capacity) return RIDGE_OK;
  return failed({ridge::ErrorCode::limit,
                 std::to_string(found.size()) + " ids do not fit into room for " + std::to_string(capacity)});
}

}  // namespace

extern "C" {

const char* ridge_last_error(void) {
  return g_last_error.c_str();
}
const char* ridge_version(void) {
  return RIDGE_VERSION;
}

ridge_status ridge_engine_load(const char* model_path, int n_ctx, int n_threads, const char* type_k, const char* type_v,
                               const char* backend, ridge_engine** engine) {
  if (model_path == nullptr || engine == nullptr) {
    return failed({ridge::ErrorCode::invalid_argument, "model_path and engine may not be NULL"});
  }
  ridge::EngineOptions options;
  options.model_path = model_path;
  options.n_ctx = n_ctx;
  options.n_threads = n_threads;
  if (type_k != nullptr) options.type_k = type_k;
  if (type_v != nullptr) options.type_v = type_v;
  if (backend != nullptr) options.backend = backend;
  auto loaded = ridge::Engine::load(options);
  if (!loaded) return failed(loaded.error());
  *engine = std::make_unique<ridge_engine>(ridge_engine{std::move(*loaded)}).release();
  return RIDGE_OK;
}

void ridge_engine_free(ridge_engine* engine) {
  const std::unique_ptr<ridge_engine> last(engine);
}
int32_t ridge_engine_n_ctx(const ridge_engine* engine) {
  return engine->engine->model().n_ctx;
}
int32_t ridge_engine_n_vocab(const ridge_engine* engine) {
  return engine->engine->model().n_vocab;
}

ridge_status ridge_tokenize(const ridge_engine* engine, const char* text, size_t text_bytes, int add_special,
                            int parse_special, int32_t* ids, size_t capacity, size_t* n) {
  const auto found = engine->engine->tokenize({text, text_bytes}, add_special != 0, parse_special != 0);
  return found ? copy_ids(*found, ids, capacity, n) : failed(found.error());
}

ridge_status ridge_chat_prompt(const ridge_engine* engine, const char* const* roles, const char* const* contents,
                               size_t n_messages, int32_t* ids, size_t capacity, size_t* n) {
  std::vector<ridge::Message> messages;
  for (size_t i = 0; i < n_messages; ++i) messages.push_back({roles[i], contents[i]});
  const auto prompt = engine->engine->chat_prompt(messages);
  return prompt ? copy_ids(prompt->tokens, ids, capacity, n) : failed(prompt.error());
}

ridge_status ridge_submit(ridge_engine* engine, const int32_t* ids, size_t n_ids, int32_t max_tokens,
                          const ridge_parameter* parameters, size_t n_parameters, const char* const* stops,
                          size_t n_stops, ridge_stream** stream) {
  ridge::Request request;
  request.tokens.assign(ids, ids + n_ids);
  request.max_tokens = max_tokens;
  for (size_t i = 0; i < n_parameters; ++i) {
    const auto set = ridge::sample::set_field(request.sampling, parameters[i].name, parameters[i].value);
    if (!set) return failed(set.error());
  }
  for (size_t i = 0; i < n_stops; ++i) request.stop.emplace_back(stops[i]);
  auto submitted = engine->engine->submit(std::move(request));
  if (!submitted) return failed(submitted.error());
  *stream = std::make_unique<ridge_stream>(ridge_stream{std::move(*submitted), {}}).release();
  return RIDGE_OK;
}

ridge_event ridge_stream_next(ridge_stream* stream) {
  ridge_event out{};
  stream->text.clear();
  const auto take_account = [&out](const ridge::RequestAccount& a) {
    out.elapsed_ms = a.time.elapsed_ms, out.residual_ms = a.time.residual_ms, out.ttft_ms = a.ttft_ms;
    out.n_prompt = a.n_prompt, out.n_output = a.n_output;
  };
  if (auto event = stream->stream.next()) {
    if (auto* token = std::get_if<ridge::TokenEvent>(&*event)) {
      out.kind = RIDGE_EVENT_TOKEN;
      out.token = token->id;
      stream->text = std::move(token->text);
    } else if (auto* done = std::get_if<ridge::Finished>(&*event)) {
      out.kind = RIDGE_EVENT_FINISHED;
      out.finish_reason = static_cast<ridge_finish_reason>(done->reason);
      stream->text = std::move(done->text);
      take_account(done->account);
    } else {
      out.kind = RIDGE_EVENT_FAILED;
      failed(std::get<ridge::Failed>(*event).error);
      take_account(std::get<ridge::Failed>(*event).account);
    }
  }
  out.text = stream->text.c_str();
  out.text_bytes = stream->text.size();
  return out;
}

void ridge_stream_cancel(ridge_stream* stream) {
  stream->stream.cancel();
}
void ridge_stream_free(ridge_stream* stream) {
  const std::unique_ptr<ridge_stream> last(stream);
}

}  // extern "C"
