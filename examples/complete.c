/* The C API in one page: the same as complete.cc, in C.
 *   complete MODEL.gguf "Once upon a time" 32
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/c_api.h"

#define MAX_IDS 4096

int main(int argc, char** argv) {
  static int32_t ids[MAX_IDS];
  const ridge_parameter greedy = {"temperature", "0"};
  ridge_engine* engine = NULL;
  ridge_stream* stream = NULL;
  size_t n_ids = 0;
  int failed = 0;

  if (argc < 3) {
    fprintf(stderr, "usage: %s MODEL.gguf PROMPT [N_TOKENS]\n", argv[0]);
    return 2;
  }
  if (ridge_engine_load(argv[1], 0, 0, NULL, NULL, NULL, &engine) != RIDGE_OK ||
      ridge_tokenize(engine, argv[2], strlen(argv[2]), 1, 0, ids, MAX_IDS, &n_ids) != RIDGE_OK ||
      ridge_submit(engine, ids, n_ids, argc > 3 ? atoi(argv[3]) : 32, &greedy, 1, NULL, 0, &stream) != RIDGE_OK) {
    fprintf(stderr, "error: %s\n", ridge_last_error());
    ridge_engine_free(engine);
    return 1;
  }
  printf("%s", argv[2]);
  for (;;) {
    const ridge_event event = ridge_stream_next(stream);
    if (event.kind == RIDGE_EVENT_END) break;
    printf("%s", event.text);
    fflush(stdout);
    if (event.kind == RIDGE_EVENT_FAILED) {
      fprintf(stderr, "error: %s\n", ridge_last_error());
      failed = 1;
    } else if (event.kind == RIDGE_EVENT_FINISHED) {
      printf("\n\n%llu tokens in %.3f ms, residual %.3f ms\n", (unsigned long long)event.n_output, event.elapsed_ms,
             event.residual_ms);
    }
  }
  ridge_stream_free(stream);
  ridge_engine_free(engine);
  return failed;
}
