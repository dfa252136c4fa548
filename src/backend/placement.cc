#include "backend/placement.h"

#include <fmt/core.h>

namespace ridge {

Placement place_layers(int n_gpu_layers_wished, int n_layers) {
  Placement p;
  if (n_gpu_layers_wished > 0) {
    p.note = fmt::format("-ngl {}: this build has no GPU backend; all {} layers run on the CPU instead",
                         n_gpu_layers_wished, n_layers);
  }
  return p;
}

}  // namespace ridge
