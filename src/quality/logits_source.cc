#include "quality/logits_source.h"

#include <algorithm>
#include <numeric>

namespace ridge::quality {
namespace {

// Logits of one step: 256 rows of a vocabulary of 32 thousand, 55 of one of 152 thousand.
constexpr int64_t kLogitsBytes = 32 << 20;

}  // namespace

Result<std::unique_ptr<ModelLogits>> ModelLogits::create(const LoadedModel& m, const EngineOptions& options,
                                                         int32_t n_ctx, Device* device) {
  RIDGE_TRY(const DType k, parse_kv_type(options.type_k));
  RIDGE_TRY(const DType v, parse_kv_type(options.type_v));
  std::unique_ptr<ModelLogits> s(new ModelLogits());
  s->n_vocab_ = m.info.n_vocab;
  const int32_t n_ubatch = std::min(options.n_ubatch, n_ctx);
  const int64_t wanted = kLogitsBytes / (int64_t{m.info.n_vocab} * 4);
  TimeBook book;
  RIDGE_TRY(s->runner_, Runner::create(*m.model, device != nullptr ? *device : *m.device, *m.ledger,
                                       {.n_ctx = n_ctx,
                                        .n_ubatch = n_ubatch,
                                        .max_out_rows = static_cast<int32_t>(std::clamp<int64_t>(wanted, 1, n_ubatch)),
                                        .max_slices = 1,
                                        .kv = {k, v}},
                                       book));
  s->table_ = BlockTable(s->runner_->pool(), n_ctx);
  RIDGE_CHECK_OK(s->table_.grow(n_ctx));
  s->out_rows_.resize(static_cast<size_t>(s->max_rows(true)));
  std::iota(s->out_rows_.begin(), s->out_rows_.end(), 0);
  return s;
}

Result<void> ModelLogits::start(std::span<const int32_t> tokens) {
  for (const int32_t id : tokens) {
    if (id < 0 || id >= n_vocab_)
      return fail(ErrorCode::invalid_argument, "token id {}, expected 0 to {}", id, n_vocab_ - 1);
  }
  tokens_ = tokens;
  pos_ = 0;
  return {};
}

Result<MatrixView<const float>> ModelLogits::advance(int32_t n_rows, bool want_logits) {
  const Slice slice{.tokens = tokens_.subspan(static_cast<size_t>(pos_), static_cast<size_t>(n_rows)),
                    .pos0 = pos_,
                    .blocks = table_.blocks()};
  pos_ += n_rows;
  return runner_->forward({&slice, 1}, std::span(out_rows_).first(want_logits ? static_cast<size_t>(n_rows) : 0));
}

}  // namespace ridge::quality
