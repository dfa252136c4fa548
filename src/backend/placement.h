// Which layers run on which device for a wished `-ngl N`, and the sentence that says so. Never silent.
#pragma once

#include <string>

namespace ridge {

struct Placement {
  int n_gpu_layers = 0;  // layers that a GPU runs
  std::string note;      // "" when the wish is met; else what was asked, what is done and why
};

// n_gpu_layers_wished: as -ngl; < 0 = auto. n_layers of the model. This build has no GPU backend: everything stays on
// the CPU.
Placement place_layers(int n_gpu_layers_wished, int n_layers);

}  // namespace ridge
