// What `ridge bench` is asked to run, as llama-bench spells it: lists with commas, ranges a-b, a-b+step and a-b*factor,
// flags that may be repeated; the product of all values is run. Plain values, any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ridge::bench {

// "512", "1,2,4", "1-4", "10-50+20", "1-64*2": appended to out. Errors: invalid_argument, naming the piece; limit (more
// than 1000 values).
Result<void> add_numbers(std::string_view text, int min, int max, std::vector<int>& out);
// "f16,q8_0": appended. Error: invalid_argument for an empty piece.
Result<void> add_words(std::string_view text, std::vector<std::string>& out);
// "512,128", one pair: appended.
Result<void> add_pair(std::string_view text, int max, std::vector<std::pair<int, int>>& out);
// on/1, off/0, auto.
Result<void> add_flash_attn(std::string_view text, std::vector<int>& out);

// Empty lists mean llama-bench's defaults.
struct Axes {
  std::vector<std::string> models;
  std::vector<int> n_prompt, n_gen, n_depth, n_batch, n_ubatch, n_threads, flash_attn;
  std::vector<std::pair<int, int>> prompt_gen;
  std::vector<std::string> type_k, type_v;
};

inline constexpr int kDefaultPrompt = 512, kDefaultGen = 128, kDefaultBatch = 2048, kDefaultUbatch = 512;

// One row of the table.
struct Case {
  std::string model;
  int n_threads = 0, n_batch = kDefaultBatch, n_ubatch = kDefaultUbatch;
  std::string type_k = "f16", type_v = "f16";
  int flash_attn = -1;  // 1 on, 0 off, -1 auto; attention is computed the same way
  int n_prompt = 0, n_gen = 0, n_depth = 0;

  // pp512, tg128, pp512+tg128, and " @ d4096" behind it.
  std::string test() const;
};

// In llama-bench's order: cases of one model and one number of threads stand together, prompts before generation before
// pairs. Fills in the defaults of `axes`. Errors: invalid_argument (no test asked for), limit (more than 4096 rows).
Result<std::vector<Case>> plan(Axes& axes);

}  // namespace ridge::bench
