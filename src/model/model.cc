#include "model/model.h"

namespace ridge {

int64_t Model::n_params() const {
  int64_t n = 0;
  for (const BoundWeight& w : weights_) n += w.weight->host.n_elems();
  return n;
}

int64_t Model::arena_floats(int32_t n_rows, int32_t n_out_rows) const {
  // A dry step: the encoder looks at shapes only, so the cache needs no memory behind it.
  const std::vector<int32_t> tokens(static_cast<size_t>(n_rows), 0), out_rows(static_cast<size_t>(n_out_rows), 0);
  std::vector<KvLayer> kv;
  for (const LayerState& l : kv_layers_) {
    kv.push_back(
        {.k_type = DType::f32, .v_type = DType::f32, .n_kv_head = l.n_kv_head, .k_dim = l.k_dim, .v_dim = l.v_dim});
  }
  Program program;
  Encoder e(program, {.tokens = tokens, .seqs = {}, .out_rows = out_rows, .kv = kv});
  forward(e);
  return program.arena_floats;
}

Result<void> Model::finish(Binder& binder, const ModelOptions& options) {
  RIDGE_CHECK_OK(binder.finish(options.device, options.ledger));
  weights_ = binder.take_weights();
  census_ = binder.take_census();
  unused_ = binder.unused();
  return {};
}

}  // namespace ridge
