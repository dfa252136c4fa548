// For tests: runs a model on a device with its own cache, reads golden logits, edits a file in memory.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/device.h"
#include "file/gguf.h"
#include "file/gguf_writer.h"
#include "golden_dir.h"
#include "kv/block_table.h"
#include "kv/kv_storage.h"
#include "model/registry.h"

namespace ridge::testing {

// NMSE = sum (a-b)^2 / sum b^2; infinite where a value is not finite or the sizes differ.
inline double nmse(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double error = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::isfinite(error) ? error / norm : std::numeric_limits<double>::infinity();
}

struct GoldenRun {
  std::vector<int32_t> tokens, greedy;
  int32_t n_vocab = 0;
  std::vector<float> logits;  // tokens x n_vocab
};

inline GoldenRun read_golden(const std::filesystem::path& stem) {
  GoldenRun run;
  const auto json = nlohmann::json::parse(std::ifstream(stem.string() + ".json"));
  run.tokens = json.at("tokens").get<std::vector<int32_t>>();
  run.greedy = json.at("greedy").get<std::vector<int32_t>>();
  run.n_vocab = json.at("n_vocab").get<int32_t>();
  run.logits.resize(run.tokens.size() * static_cast<size_t>(run.n_vocab));
  std::ifstream file(stem.string() + ".logits.f32", std::ios::binary);
  file.read(reinterpret_cast<char*>(run.logits.data()),
            static_cast<std::streamsize>(run.logits.size() * sizeof(float)));
  EXPECT_TRUE(file.good()) << stem;
  return run;
}

// One loaded model and one sequence.
class ModelRun {
 public:
  static Result<std::unique_ptr<ModelRun>> open(const std::filesystem::path& path, std::string_view device,
                                                const std::string& isa, KvTypes types, int32_t n_ctx) {
    auto run = std::unique_ptr<ModelRun>(new ModelRun);
    RIDGE_TRY(GgufFile file, GgufFile::open(path));
    run->file_ = std::make_unique<GgufFile>(std::move(file));
    RIDGE_TRY(run->device_, make_device(device, {.n_threads = 1, .isa = isa, .ledger = &run->ledger_}));
    RIDGE_TRY(run->model_,
              load_model(*run->file_, {.n_ctx = n_ctx, .device = run->device_.get(), .ledger = &run->ledger_}));
    run->pool_ = std::make_unique<BlockPool>(kv_blocks_for(n_ctx));
    // Blocks in no particular order: a kernel that assumes that they follow each other is found out.
    std::vector<int32_t> all(static_cast<size_t>(run->pool_->n_blocks()));
    RIDGE_CHECK_OK(run->pool_->allocate(all));
    for (size_t i = 0; i < all.size(); ++i) run->pool_->release(all[i * 5 % all.size()]);
    RIDGE_TRY(run->kv_, KvStorage::allocate(run->ledger_, run->model_->kv_layers(), types, run->pool_->n_blocks()));
    run->table_ = BlockTable(*run->pool_, n_ctx);
    RIDGE_CHECK_OK(run->device_->reserve(run->model_->arena_floats(n_ctx, n_ctx)));
    return run;
  }

  // Appends tokens to the sequence; logits of the rows wanted (by default of all).
  Result<std::vector<float>> append(std::span<const int32_t> tokens, std::span<const int32_t> out_rows = {},
                                    bool all_rows = true) {
    const int32_t n = static_cast<int32_t>(tokens.size());
    RIDGE_CHECK_OK(table_.grow(n_past_ + n));
    std::vector<int32_t> rows(out_rows.begin(), out_rows.end());
    if (all_rows) {
      for (int32_t i = 0; i < n; ++i) rows.push_back(i);
    }
    const SeqSpan seq{.row0 = 0, .n_rows = n, .pos0 = n_past_, .blocks = table_.blocks()};
    Encoder e(program_, {.tokens = tokens, .seqs = std::span(&seq, 1), .out_rows = rows, .kv = kv_.layers()});
    model_->forward(e);
    RIDGE_CHECK_OK(device_->run(program_));
    n_past_ += n;
    std::vector<float> logits;
    if (rows.empty()) return logits;
    const auto view = device_->read(program_.logits);
    for (int64_t r = 0; r < view.rows; ++r) logits.insert(logits.end(), view.row(r), view.row(r) + view.cols);
    return logits;
  }
  void restart() {
    table_.release();
    n_past_ = 0;
  }

  const Model& model() const { return *model_; }
  const GgufFile& file() const { return *file_; }
  const Program& program() const { return program_; }
  MemoryLedger& ledger() { return ledger_; }

 private:
  ModelRun() = default;
  MemoryLedger ledger_;
  std::unique_ptr<GgufFile> file_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<BlockPool> pool_;
  KvStorage kv_;
  BlockTable table_;
  Program program_;
  int32_t n_past_ = 0;
};

// Every device and instruction set of this machine: "reference", "cpu avx2", ...
struct DeviceCase {
  std::string device, isa;
  std::string label() const { return isa.empty() ? device : device + "_" + isa; }
};
inline std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  for (std::string_view name : device_names()) {
    if (name != "cpu") {
      cases.push_back({std::string(name), ""});
      continue;
    }
    for (std::string_view isa : cpu_isas()) cases.push_back({std::string(name), std::string(isa)});
  }
  return cases;
}

// Golden files of these architectures are for a later version: they must be refused by name.
inline bool is_for_later(std::string_view stem) {
  return stem.starts_with("deepseek2") || stem.starts_with("lfm2") || stem.starts_with("qwen35");
}

inline std::vector<std::string> golden_stems(const std::filesystem::path& dir) {
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    if (entry.path().extension() == ".gguf") stems.push_back(entry.path().stem().string());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

}  // namespace ridge::testing
