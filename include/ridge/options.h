// Options of an engine: plain values with llama.cpp's names and defaults where it has the same option.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ridge {

struct EngineOptions {
  std::string model_path;  // a GGUF file; any shard of a split one
  int n_ctx = 0;  // -c: positions of KV cache; 0 = the model's training length, at most 4096 (the note says when cut)
  int n_ubatch = 512;           // -ub: rows a step
  int n_threads = 0;            // -t: 0 = min(affinity, cgroup quota, physical cores)
  int n_parallel = 1;           // -np: sequences that may run at once
  int max_queue = 256;          // requests that may wait beside n_parallel running ones; one more is refused
  std::string type_k = "f16";   // -ctk: f32 f16 bf16 q8_0 q4_0
  std::string type_v = "f16";   // -ctv
  int n_gpu_layers = -1;        // -ngl: -1 = auto
  std::string backend = "cpu";  // "cpu" or "reference"
  std::string isa;              // "" = the best of this machine
  std::string chat_template;    // overrides the model's own when not empty
  bool check_memory = true;     // refuse before allocating what the machine cannot hold

  // Called on the loading thread as stages finish: stage name, share done in [0, 1].
  std::function<void(std::string_view stage, double share)> on_progress;
};

}  // namespace ridge
