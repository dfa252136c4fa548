// A weight: a tensor of the model file as a device sees it. Immutable once Device::prepare returned.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/view.h"

namespace ridge {

// A matrix of `out` rows of `in` elements each (y = W x), or n_mats of them one after the other (experts).
// A vector (norm weight, bias) has out == 1.
struct Weight {
  TensorView host;  // bytes in the file's own layout; the mapping outlives the weight
  int64_t in = 0, out = 0, n_mats = 1;
  bool table_only = false;  // only rows are looked up (Embed), no product is taken: needs no copy in another layout
  // Its products may not round the activations: the model has experts, and a small difference picks another one.
  bool exact_activations = false;
  const void* prepared =
      nullptr;  // a device's own copy in another layout, owned by the device; nullptr = it uses `host`

  explicit operator bool() const { return host.data != nullptr; }
  DType dtype() const { return host.dtype; }
  double bytes() const { return static_cast<double>(host.n_bytes()); }
};

}  // namespace ridge
