// What a loaded model is: plain values for programs and reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ridge {

struct FormatShare {
  std::string format;  // "q4_K"
  uint64_t n_tensors = 0, n_bytes = 0;
};

struct ModelInfo {
  std::string path, name, architecture;
  uint64_t file_bytes = 0, n_params = 0;
  std::vector<FormatShare> formats;
  int n_layers = 0, n_embd = 0, n_vocab = 0;
  int n_ctx_train = 0;    // what the model was trained for
  int n_ctx = 0;          // what this engine holds
  std::string note;       // e.g. that the context was cut; "" when there is nothing to say
  std::string tokenizer;  // kind and pre-tokeniser
  bool has_chat_template = false;
  bool is_synthetic = false;       // random weights of `ridge synth`: speed only; the note says so too
  std::string chat_template;       // its source; "" when there is none
  std::string bos_text, eos_text;  // "" when the model has no such token
};

}  // namespace ridge
