// `ridge bench --batched`: many sequences at once, in the table of llama-batched-bench: prompts of B sequences, then
// their generation step by step. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/rig.h"

namespace ridge::bench {

struct BatchedOptions {
  RigOptions rig;
  std::vector<int> n_prompt, n_gen, n_parallel;  // -npp, -ntg, -npl: all combinations
  bool shared_prompt = false;                    // -pps: one prompt, which all sequences begin with
  int n_batch = 2048, n_ubatch = 512;
  std::string type_k = "f16", type_v = "f16";
  int flash_attn = -1;
};

struct BatchedRow {
  int pp = 0, tg = 0, pl = 0, n_kv = 0;
  bool shared_prompt = false;
  double t_pp_s = 0, t_tg_s = 0;
  Work prompt, gen;

  double t_s() const { return t_pp_s + t_tg_s; }
  double speed_pp() const;  // tokens/s; a shared prompt counts once
  double speed_tg() const;
  double speed() const;
};

struct BatchedRun {
  int n_kv_max = 0, n_threads = 0;
  std::string isa;
  ModelInfo model;
};
// Opens the model, tells `begin` what will run, and hands over each row. Errors: those of Rig; invalid_argument (an
// empty list; a shared prompt that is no multiple of 32).
Result<void> run_batched(const BatchedOptions& options, const std::function<void(const BatchedRun&)>& begin,
                         const std::function<void(const BatchedRow&)>& on_row);

// As llama-batched-bench prints them. Ridge's columns stand behind the others: GB/s of generation and its share.
std::string batched_begin(const BatchedOptions& o, const BatchedRun& run);
std::string batched_row(const BatchedRow& row, const Roofs& roofs);
std::string batched_row_jsonl(const BatchedOptions& o, const BatchedRun& run, const BatchedRow& row,
                              const Roofs& roofs);

}  // namespace ridge::bench
