#include "bench/rig.h"

#include <algorithm>
#include <cassert>

#include "base/clock.h"
#include "base/rng.h"
#include "device/machine.h"
#include "engine/forecast.h"

namespace ridge::bench {

Result<std::unique_ptr<Rig>> Rig::open(const RigOptions& options) {
  EngineOptions o;
  o.model_path = options.model_path;
  o.backend = options.backend;
  o.isa = options.isa;
  o.n_threads = options.n_threads;
  TimeBook book;
  auto rig = std::make_unique<Rig>();
  RIDGE_TRY(rig->loaded_, load_model_file(o, {.tokenizer = false, .chat_template = false}, book));
  return rig;
}

Result<void> Rig::arrange(const Layout& layout) {
  tables_.clear();
  runner_.reset();
  layout_ = layout;
  RIDGE_TRY(const DType type_k, parse_kv_type(layout.type_k));
  RIDGE_TRY(const DType type_v, parse_kv_type(layout.type_v));
  const int n_ctx = std::max(1, layout.n_ctx);
  const int n_rows = std::min({layout.n_ubatch, layout.n_batch, n_ctx});
  const int n_out = std::min(layout.n_sequences, n_rows);
  // Each sequence may leave the last of its blocks partly empty.
  const int n_positions = n_ctx + (layout.n_sequences - 1) * kKvBlockPositions;
  RIDGE_CHECK_OK(check_memory(*loaded_.model,
                              {.n_ctx = n_positions,
                               .n_ubatch = n_rows,
                               .max_out_rows = n_out,
                               .kv = {type_k, type_v},
                               .device = loaded_.device.get()},
                              memory_budget_bytes()));
  TimeBook book;
  RIDGE_TRY(runner_, Runner::create(*loaded_.model, *loaded_.device, *loaded_.ledger,
                                    {.n_ctx = n_positions,
                                     .n_ubatch = n_rows,
                                     .max_out_rows = n_out,
                                     .max_slices = std::min(layout.n_sequences, n_rows),
                                     .kv = {type_k, type_v}},
                                    book));
  layout_.n_ubatch = n_rows;
  slices_.reserve(static_cast<size_t>(layout.n_sequences));
  out_rows_.reserve(static_cast<size_t>(layout.n_sequences));
  tokens_.reserve(static_cast<size_t>(n_rows));
  clear();
  return {};
}

void Rig::clear() {
  tables_.clear();
  for (int i = 0; i < layout_.n_sequences; ++i) tables_.emplace_back(runner_->pool(), layout_.n_ctx);
  lengths_.assign(static_cast<size_t>(layout_.n_sequences), 0);
}

void Rig::share(int from, int to, int n) {
  assert(n % kKvBlockPositions == 0 && lengths_[static_cast<size_t>(to)] == 0 && "whole blocks into an empty sequence");
  const auto blocks = tables_[static_cast<size_t>(from)].blocks();
  for (int i = 0; i < n / kKvBlockPositions; ++i)
    tables_[static_cast<size_t>(to)].share(blocks[static_cast<size_t>(i)]);
  lengths_[static_cast<size_t>(to)] = n;
}

Result<void> Rig::feed(std::span<const int> counts, Meter& meter) {
  assert(counts.size() == tables_.size() && "a count for each sequence");
  std::vector<int> left(counts.begin(), counts.end());
  std::vector<Row> rows;
  int in_batch = 0, in_step = 0;
  const auto flush = [&]() -> Result<void> {
    if (in_step > 0) RIDGE_CHECK_OK(step(rows, left, meter));
    rows.clear();
    in_step = 0;
    return {};
  };
  for (size_t s = 0; s < left.size(); ++s) {
    while (left[s] > 0) {
      const int n = std::min({left[s], layout_.n_ubatch - in_step, layout_.n_batch - in_batch});
      rows.push_back({.sequence = static_cast<int>(s), .n = n});
      left[s] -= n, in_step += n, in_batch += n;
      if (in_step == layout_.n_ubatch || in_batch == layout_.n_batch) RIDGE_CHECK_OK(flush());
      if (in_batch == layout_.n_batch) in_batch = 0;
    }
  }
  return flush();
}

Result<void> Rig::step(std::span<const Row> rows, std::span<const int> left, Meter& meter) {
  tokens_.clear(), slices_.clear(), out_rows_.clear();
  const auto n_vocab = static_cast<uint64_t>(loaded_.info.n_vocab);
  for (const Row& r : rows) {
    const auto s = static_cast<size_t>(r.sequence);
    for (int i = 0; i < r.n; ++i) tokens_.push_back(static_cast<int32_t>(random_bits(1, 0, n_drawn_++) % n_vocab));
    RIDGE_CHECK_OK(tables_[s].grow(lengths_[s] + r.n));
    if (left[s] == 0) out_rows_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
  }
  size_t at = 0;
  for (const Row& r : rows) {
    const auto s = static_cast<size_t>(r.sequence);
    slices_.push_back({.tokens = std::span(tokens_).subspan(at, static_cast<size_t>(r.n)),
                       .pos0 = lengths_[s],
                       .blocks = tables_[s].blocks()});
    at += static_cast<size_t>(r.n);
  }
  StepTrace trace;
  const int64_t start_ns = now_ns();
  const auto ran = runner_->forward(slices_, out_rows_, meter.verb_ns != nullptr ? &trace : nullptr);
  meter.ns += now_ns() - start_ns;
  if (!ran) return tl::unexpected<Error>(ran.error());
  for (const Row& r : rows) lengths_[static_cast<size_t>(r.sequence)] += r.n;
  meter.work.add(runner_->program());
  if (meter.verb_ns != nullptr) *meter.verb_ns = std::move(trace.verb_ns);
  return {};
}

}  // namespace ridge::bench
