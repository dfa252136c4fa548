// The command line of `ridge quantize` as llama-quantize reads it: three or four words and the options.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "quality/quantise.h"

namespace ridge::app {

struct QuantizeWords {
  std::vector<std::string> words;  // IN [OUT] TYPE [THREADS]
  std::vector<std::string> tensor_types;
  std::string tensor_type_file, output_type, embedding_type;
  int n_threads = 0;
  bool is_dry_run = false;
  // Set by read_quantize_words.
  std::string in, out;
  quality::QuantiseOptions options;
};
void add_quantize_flags(Cli& cli, QuantizeWords& words);
// Errors: invalid_argument; those of reading --tensor-type-file.
Result<void> read_quantize_words(QuantizeWords& words);
// "F32 F16 ... Q2_K"
std::string quantize_types();

}  // namespace ridge::app
