// What a layer remembers of the positions before, by kind. A model lists one for each of its layers; kv_storage.h gives
// them memory. Kinds compose per layer (a model may alternate them), so there is no cache class per combination.
//
// Kinds that later architectures bring, and what each will need here:
//   latent     one compressed row a position instead of keys and values (multi-head latent attention, DeepSeek-V2):
//   paged like `full`,
//              with a single head whose values are the first columns of its keys;
//   recurrent  a state of fixed size a sequence (short convolutions, gated linear attention): not paged, snapshot to go
//   back.
#pragma once

#include <cstdint>

namespace ridge {

enum class LayerStateKind : uint8_t {
  full,    // keys and values of every position
  window,  // only the last `window` positions are looked at; the earlier ones keep their blocks until the sequence ends
};

struct LayerState {
  LayerStateKind kind = LayerStateKind::full;
  int32_t n_kv_head = 0;
  int32_t k_dim = 0, v_dim = 0;  // head_dim of keys and of values
  int32_t window = 0;            // positions, the own one included; 0 for `full`
};

}  // namespace ridge
