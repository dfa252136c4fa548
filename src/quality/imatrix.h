// An importance matrix: for each weight matrix the mean square of every input column over a text, which says what an
// error in that column costs. Reads and writes the GGUF form of llama-imatrix (tensors NAME.in_sum2 and NAME.counts)
// and reads the older .dat form. Refuses what contradicts itself; trusts nothing. Truth: llama.cpp, tools/imatrix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ridge::quality {

struct ImatrixEntry {
  int64_t n_cols = 0;
  std::vector<float> sums;    // n_experts rows of n_cols: sums of squares
  std::vector<float> counts;  // one an expert: rows that were summed
  int64_t n_experts() const { return static_cast<int64_t>(counts.size()); }
};

struct Imatrix {
  std::map<std::string, ImatrixEntry, std::less<>> entries;  // by the weight's name
  std::vector<std::string> datasets;
  uint32_t n_chunks = 0, chunk_tokens = 0;

  // Errors: not_found, io, bad_file, limit.
  static Result<Imatrix> load(const std::filesystem::path& path);
  // Of the bytes of such a file. Errors: bad_file, unsupported, limit.
  static Result<Imatrix> parse(std::span<const std::byte> bytes);
  // Errors: io.
  Result<void> save(const std::filesystem::path& path) const;

  // The weights of a tensor's columns, an expert after another: sum / count, scaled to mean 1, and 1 for an expert that
  // never ran. Empty where the tensor is not in the matrix. Errors: invalid_argument (another shape).
  Result<std::vector<float>> importance(std::string_view name, int64_t n_cols, int64_t n_experts) const;
};

}  // namespace ridge::quality
