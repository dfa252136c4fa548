#include "engine/runner.h"

#include <cassert>
#include <cmath>
#include <set>

namespace ridge {

Runner::Runner(const Model& model, Device& device, MemoryLedger& ledger, const RunnerOptions& options)
    : model_(model), device_(device), ledger_(ledger), options_(options), pool_(kv_blocks_for(options.n_ctx)) {
  tokens_.reserve(static_cast<size_t>(options.n_ubatch));
  spans_.reserve(static_cast<size_t>(options.max_slices));
}

Runner::~Runner() {
  if (logits_bytes_ == 0) return;  // creation failed before there was an arena
  // The device gives the whole arena back as activations.
  ledger_.remove(MemoryOwner::logits, kArenaDetail, logits_bytes_);
  ledger_.add(MemoryOwner::activations, kArenaDetail, logits_bytes_);
}

Result<std::unique_ptr<Runner>> Runner::create(const Model& model, Device& device, MemoryLedger& ledger,
                                               const RunnerOptions& options, TimeBook& book) {
  std::unique_ptr<Runner> r(new Runner(model, device, ledger, options));
  {
    const ScopedSpan span(book, Stage::allocate_kv);
    RIDGE_TRY(r->kv_, KvStorage::allocate(ledger, model.kv_layers(), options.kv, r->pool_.n_blocks()));
  }
  const ScopedSpan span(book, Stage::allocate_activations);
  const int64_t floats = model.arena_floats(options.n_ubatch, options.max_out_rows);
  RIDGE_CHECK_OK(device.reserve(floats));
  const int64_t n_logits = floats - model.arena_floats(options.n_ubatch, 0);
  r->logits_bytes_ = static_cast<uint64_t>(n_logits) * sizeof(float);
  ledger.remove(MemoryOwner::activations, kArenaDetail, r->logits_bytes_);
  ledger.add(MemoryOwner::logits, kArenaDetail, r->logits_bytes_);
  return r;
}

Result<MatrixView<const float>> Runner::forward(std::span<const Slice> slices, std::span<const int32_t> out_rows,
                                                StepTrace* trace) {
  assert(static_cast<int32_t>(out_rows.size()) <= options_.max_out_rows &&
         static_cast<int32_t>(slices.size()) <= options_.max_slices);
  tokens_.clear();
  spans_.clear();
  for (const Slice& s : slices) {
    spans_.push_back({.row0 = static_cast<int32_t>(tokens_.size()),
                      .n_rows = static_cast<int32_t>(s.tokens.size()),
                      .pos0 = s.pos0,
                      .blocks = s.blocks});
    tokens_.insert(tokens_.end(), s.tokens.begin(), s.tokens.end());
  }
  assert(static_cast<int32_t>(tokens_.size()) <= options_.n_ubatch &&
         "the scheduler keeps a step within n_ubatch rows");
  Encoder encoder(program_, {.tokens = tokens_, .seqs = spans_, .out_rows = out_rows, .kv = kv_.layers()});
  model_.forward(encoder);
  RIDGE_CHECK_OK(device_.run(program_, trace));
  if (out_rows.empty()) return MatrixView<const float>{};
  const MatrixView<const float> logits = device_.read(program_.logits);
  for (int64_t r = 0; r < logits.rows; ++r) {
    // A sum is NaN or infinite when any of its terms is (infinities of both signs give NaN), and costs one pass.
    float sum = 0;
    for (int64_t c = 0; c < logits.cols; ++c) sum += logits.row(r)[c] * 0.0f;
    if (std::isnan(sum)) {
      return fail(ErrorCode::device,
                  "the logits of row {} hold NaN or infinity: the weights or the activations are damaged",
                  out_rows[static_cast<size_t>(r)]);
    }
  }
  return logits;
}

std::vector<std::string> Runner::describe_step() const {
  Program program;
  const int32_t token = 0, block = 0, out = 0;
  const SeqSpan span{.row0 = 0, .n_rows = 1, .pos0 = 0, .blocks = {&block, 1}};
  Encoder e(program, {.tokens = {&token, 1}, .seqs = {&span, 1}, .out_rows = {&out, 1}, .kv = kv_.layers()});
  model_.forward(e);
  std::set<std::string> lines;
  for (const Verb& v : program.verbs) lines.insert(device_.describe(v));
  return {lines.begin(), lines.end()};
}

}  // namespace ridge
