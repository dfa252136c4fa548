// What a model will take in memory for a given context, worked out before anything big is allocated.
#pragma once

#include <optional>
#include <vector>

#include "kv/kv_storage.h"
#include "model/model.h"
#include "ridge/account.h"

namespace ridge {

struct ForecastOptions {
  int32_t n_ctx = 0, n_ubatch = 512, max_out_rows = 1;
  KvTypes kv;
  const Device* device = nullptr;  // whose scratch and copies of weights count; nullptr: none
};

struct Forecast {
  std::vector<MemoryLine> lines;  // owner, detail and predicted_bytes
  uint64_t total_bytes = 0;
  // Without the mapped weights, which the page cache may drop and read again, and without their prepared copies.
  uint64_t must_allocate_bytes = 0;
  uint64_t bytes_a_position = 0;  // what one more position of context costs
};

// Errors: unsupported (KV types), limit (sizes beyond 2^63).
Result<Forecast> forecast_memory(const Model& model, const ForecastOptions& options);

// The largest context, a multiple of a block, whose forecast stays within the budget; 0 when not even one block does.
Result<int32_t> largest_context(const Model& model, ForecastOptions options, uint64_t budget_bytes);

// Refuses what the machine cannot hold: predicted bytes by owner, what is there, and the largest context that would
// fit.
Result<void> check_memory(const Model& model, const ForecastOptions& options, std::optional<uint64_t> budget_bytes);

}  // namespace ridge
