// Models without a download: a GGUF file with the exact shapes of a known model, the formats that llama-quantize would
// choose, and random blocks that keep activations sane. Its speed is that of the real model; its words are noise, and
// the key ridge.synthetic = true says so to every program that reads it. Shapes: the models' published configurations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "quant/mix.h"

namespace ridge::bench {

struct SynthShape {
  std::string_view name, arch, title, size_label, pre;  // pre: the tokeniser's splitter
  int n_layer = 0, n_embd = 0, n_ff = 0, n_head = 0, n_head_kv = 0, head_dim = 0, n_vocab = 0, n_ctx = 0;
  bool tied = false, qkv_bias = false, qk_norm = false;
  float rope_base = 10000.0f, eps = 1e-6f;
  float rope_factor = 0;  // of Llama 3's scaling, which becomes the tensor rope_freqs; 0: none
  int n_expert = 0, n_expert_used = 0, n_ff_expert = 0;
};
std::span<const SynthShape> synth_shapes();
// Error: invalid_argument with the list.
Result<SynthShape> find_shape(std::string_view name);

struct SynthOptions {
  SynthShape shape;
  const quant::Target* target = nullptr;
  uint64_t seed = 1;
  // Called as bytes are written: done and all of the tensors' bytes.
  std::function<void(uint64_t done, uint64_t all)> on_progress;
};
struct SynthReport {
  uint64_t n_params = 0, n_tensors = 0, tensor_bytes = 0;
  int n_fallbacks = 0;  // tensors whose rows do not divide into the blocks that the mix would choose
};
// Written tensor by tensor in a few MiB of memory; path keeps what it had until all is written. Errors: io (also: too
// little space), unsupported (a format that nothing here writes).
Result<SynthReport> write_synthetic(const std::filesystem::path& path, const SynthOptions& options);

}  // namespace ridge::bench
