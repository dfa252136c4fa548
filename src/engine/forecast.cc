#include "engine/forecast.h"

#include <algorithm>
#include <map>

#include "account/memory.h"
#include "backend/device.h"
#include "kv/block_pool.h"

namespace ridge {
namespace {

double mib(uint64_t n_bytes) {
  return static_cast<double>(n_bytes) / (1024.0 * 1024.0);
}

}  // namespace

Result<Forecast> forecast_memory(const Model& model, const ForecastOptions& options) {
  Forecast f;
  std::map<DType, uint64_t> weights, prepared;
  for (const BoundWeight& w : model.weights()) {
    weights[w.weight->dtype()] += w.weight->host.n_bytes();
    for (const Weight* use : {w.weight, w.tied}) {
      if (options.device == nullptr || use == nullptr) continue;
      prepared[use->dtype()] += options.device->prepared_bytes(*use);
    }
  }
  const auto add = [&](MemoryOwner owner, std::string detail, uint64_t n_bytes) {
    f.lines.push_back(
        {.owner = std::string(to_string(owner)), .detail = std::move(detail), .predicted_bytes = n_bytes});
    f.total_bytes += n_bytes;
    // Copies of weights are made while the model loads, before anything here is compared with what is free.
    if (owner != MemoryOwner::weights_mapped && owner != MemoryOwner::weights_prepared)
      f.must_allocate_bytes += n_bytes;
  };
  for (const auto& [type, n_bytes] : weights) add(MemoryOwner::weights_mapped, std::string(info(type).name), n_bytes);
  for (const auto& [type, n_bytes] : prepared) {
    if (n_bytes > 0) add(MemoryOwner::weights_prepared, std::string(info(type).name), n_bytes);
  }
  RIDGE_CHECK_OK(check_kv_types(model.kv_layers(), options.kv));
  RIDGE_TRY(const KvBytes kv, predict_kv_bytes(model.kv_layers(), options.kv, kv_blocks_for(options.n_ctx)));
  add(MemoryOwner::kv, fmt::format("K {}", info(options.kv.k).name), kv.k);
  add(MemoryOwner::kv, fmt::format("V {}", info(options.kv.v).name), kv.v);
  RIDGE_TRY(const KvBytes block, predict_kv_bytes(model.kv_layers(), options.kv, 1));
  f.bytes_a_position = block.total() / kKvBlockPositions;
  const int64_t all = model.arena_floats(options.n_ubatch, options.max_out_rows),
                inner = model.arena_floats(options.n_ubatch, 0);
  add(MemoryOwner::activations, std::string(kArenaDetail), static_cast<uint64_t>(inner) * sizeof(float));
  add(MemoryOwner::logits, std::string(kArenaDetail), static_cast<uint64_t>(all - inner) * sizeof(float));
  if (options.device != nullptr) {
    for (const Device::Scratch& part : options.device->scratch(all)) {
      add(MemoryOwner::activations, std::string(part.detail), part.n_bytes);
    }
  }
  return f;
}

Result<int32_t> largest_context(const Model& model, ForecastOptions options, uint64_t budget_bytes) {
  options.n_ctx = kKvBlockPositions;
  RIDGE_TRY(const Forecast one, forecast_memory(model, options));
  if (one.must_allocate_bytes > budget_bytes) return 0;
  const uint64_t block_bytes = std::max<uint64_t>(1, one.bytes_a_position * kKvBlockPositions);
  const uint64_t n_blocks = 1 + (budget_bytes - one.must_allocate_bytes) / block_bytes;
  return static_cast<int32_t>(std::min<uint64_t>(n_blocks, kMaxContext / kKvBlockPositions)) * kKvBlockPositions;
}

Result<void> check_memory(const Model& model, const ForecastOptions& options, std::optional<uint64_t> budget_bytes) {
  if (!budget_bytes) return {};
  RIDGE_TRY(const Forecast f, forecast_memory(model, options));
  if (f.must_allocate_bytes <= *budget_bytes) return {};
  RIDGE_TRY(const int32_t fits, largest_context(model, options, *budget_bytes));
  std::string lines;
  for (const MemoryLine& l : f.lines) {
    lines += fmt::format("{}{} {} {:.1f} MiB", lines.empty() ? "" : ", ", l.owner, l.detail, mib(l.predicted_bytes));
  }
  return fail(
      ErrorCode::out_of_memory,
      "a context of {} needs {:.1f} MiB beside the mapped weights ({}), and {:.1f} MiB are available; {}",
      options.n_ctx, mib(f.must_allocate_bytes), lines, mib(*budget_bytes),
      fits > 0 ? fmt::format("the largest context that fits is {} (-c {})", fits, fits)
               : std::string(
                     "no context fits; try a smaller -ub, a smaller KV type (-ctk q8_0 -ctv q8_0) or a smaller model"));
}

}  // namespace ridge
