/* The C API: opaque handles, for other languages. Everything of engine.h that a program needs to complete text and to
 * chat.
 *
 * Errors: functions that can fail return a code (0 = fine) and keep a message that ridge_last_error() gives to the same
 * thread. Ownership: what a *_load, *_submit or *_text function hands out is freed by the matching *_free. Strings
 * given to the library are copied. Thread-safety: as engine.h: an engine may be used by any thread, a stream by one
 * reader at a time.
 */
#ifndef RIDGE_C_API_H
#define RIDGE_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_engine ridge_engine;
typedef struct ridge_stream ridge_stream;

/* The values of ridge::ErrorCode plus one; RIDGE_OK is 0. */
typedef enum ridge_status {
  RIDGE_OK = 0,
  RIDGE_INVALID_ARGUMENT = 1,
  RIDGE_NOT_FOUND = 2,
  RIDGE_IO = 3,
  RIDGE_BAD_FILE = 4,
  RIDGE_UNSUPPORTED = 5,
  RIDGE_LIMIT = 6,
  RIDGE_OUT_OF_MEMORY = 7,
  RIDGE_CONTEXT_EXCEEDED = 8,
  RIDGE_TEMPLATE_ERROR = 9,
  RIDGE_CANCELLED = 10,
  RIDGE_DEVICE = 11,
  RIDGE_INTERNAL = 12
} ridge_status;

typedef enum ridge_event_kind {
  RIDGE_EVENT_END = 0, /* the stream is over; the terminal event has been given out */
  RIDGE_EVENT_TOKEN = 1,
  RIDGE_EVENT_FINISHED = 2, /* terminal */
  RIDGE_EVENT_FAILED = 3    /* terminal; ridge_last_error() has the message */
} ridge_event_kind;

/* The values of ridge::FinishReason. */
typedef enum ridge_finish_reason {
  RIDGE_FINISH_END_OF_GENERATION = 0,
  RIDGE_FINISH_STOP_STRING = 1,
  RIDGE_FINISH_MAX_TOKENS = 2,
  RIDGE_FINISH_CONTEXT_FULL = 3,
  RIDGE_FINISH_CANCELLED = 4
} ridge_finish_reason;

typedef struct ridge_event {
  ridge_event_kind kind;
  int32_t token;    /* RIDGE_EVENT_TOKEN */
  const char* text; /* UTF-8, NUL-terminated, never NULL; valid until the next call on this stream */
  size_t text_bytes;
  ridge_finish_reason finish_reason; /* RIDGE_EVENT_FINISHED, and the figures below */
  double elapsed_ms, residual_ms, ttft_ms;
  uint64_t n_prompt, n_output;
} ridge_event;

/* The last error of this thread; "" when there was none. */
const char* ridge_last_error(void);
const char* ridge_version(void);

/* n_ctx 0 and n_threads 0: chosen. type_k, type_v and backend may be NULL: "f16", "f16", "cpu". */
ridge_status ridge_engine_load(const char* model_path, int n_ctx, int n_threads, const char* type_k, const char* type_v,
                               const char* backend, ridge_engine** engine);
void ridge_engine_free(ridge_engine* engine);
int32_t ridge_engine_n_ctx(const ridge_engine* engine);
int32_t ridge_engine_n_vocab(const ridge_engine* engine);

/* Writes at most `capacity` ids and sets *n to how many there are; RIDGE_LIMIT when there are more than fit. */
ridge_status ridge_tokenize(const ridge_engine* engine, const char* text, size_t text_bytes, int add_special,
                            int parse_special, int32_t* ids, size_t capacity, size_t* n);
/* The prompt of a conversation of n messages, as ids; as ridge_tokenize for `capacity`. */
ridge_status ridge_chat_prompt(const ridge_engine* engine, const char* const* roles, const char* const* contents,
                               size_t n_messages, int32_t* ids, size_t capacity, size_t* n);

/* A sampling parameter by its name ("temperature", "top_k", "seed", ...: the names that `ridge run --help` lists) and
 * value as text. */
typedef struct ridge_parameter {
  const char* name;
  const char* value;
} ridge_parameter;

/* max_tokens -1: until the model ends its answer or the context is full. */
ridge_status ridge_submit(ridge_engine* engine, const int32_t* ids, size_t n_ids, int32_t max_tokens,
                          const ridge_parameter* parameters, size_t n_parameters, const char* const* stops,
                          size_t n_stops, ridge_stream** stream);
/* Waits for the next event. */
ridge_event ridge_stream_next(ridge_stream* stream);
/* Any thread. */
void ridge_stream_cancel(ridge_stream* stream);
/* Cancels what has not ended. */
void ridge_stream_free(ridge_stream* stream);

#ifdef __cplusplus
}
#endif

#endif
