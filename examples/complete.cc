// The C++ API in one page: load a model, complete a prompt as it streams, say where the time went.
//   complete MODEL.gguf "Once upon a time" 32
#include <cstdio>
#include <cstdlib>

#include "ridge/engine.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MODEL.gguf PROMPT [N_TOKENS]\n", argv[0]);
    return 2;
  }
  ridge::EngineOptions options;
  options.model_path = argv[1];
  auto engine = ridge::Engine::load(options);
  if (!engine) {
    std::fprintf(stderr, "error: %s\n", engine.error().message.c_str());
    return 1;
  }
  auto tokens = (*engine)->tokenize(argv[2], /*add_special=*/true, /*parse_special=*/false);
  if (!tokens) {
    std::fprintf(stderr, "error: %s\n", tokens.error().message.c_str());
    return 1;
  }
  ridge::Request request;
  request.tokens = std::move(*tokens);
  request.max_tokens = argc > 3 ? std::atoi(argv[3]) : 32;
  request.sampling.temperature = 0;  // the most likely token each time
  auto stream = (*engine)->submit(std::move(request));
  if (!stream) {
    std::fprintf(stderr, "error: %s\n", stream.error().message.c_str());
    return 1;
  }
  std::printf("%s", argv[2]);
  while (auto event = stream->next()) {
    if (const auto* token = std::get_if<ridge::TokenEvent>(&*event)) {
      std::printf("%s", token->text.c_str());
      std::fflush(stdout);
    } else if (const auto* done = std::get_if<ridge::Finished>(&*event)) {
      std::printf("%s\n\n%s after %llu tokens\n", done->text.c_str(), std::string(to_string(done->reason)).c_str(),
                  static_cast<unsigned long long>(done->account.n_output));
      for (const ridge::StageTime& stage : done->account.time.stages)
        std::printf("%-12s %9.3f ms\n", stage.name.c_str(), stage.ms);
      std::printf("%-12s %9.3f ms of %.3f ms\n", "residual", done->account.time.residual_ms,
                  done->account.time.elapsed_ms);
    } else {
      std::fprintf(stderr, "error: %s\n", std::get<ridge::Failed>(*event).error.message.c_str());
      return 1;
    }
  }
  return 0;
}
