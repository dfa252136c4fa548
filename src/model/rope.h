// Rotary embeddings: from what a file says (hparams.h) to the frequencies that the Rope verb uses. Worked out once, at
// load, in double. Sources: RoFormer (arXiv 2104.09864); YaRN (arXiv 2309.00071) for the ramp and the magnitude; the
// Llama 3 and LongRoPE (arXiv 2402.13753) factors come as tensors, so only their use is here.
#pragma once

#include <span>
#include <vector>

#include "backend/program.h"
#include "model/binder.h"
#include "model/hparams.h"

namespace ridge {

struct RopeOptions {
  float freq_base = 10000.0f;
  bool split_halves = false;            // pairs (i, i + n_rot/2); else (2i, 2i + 1)
  std::span<const float> factors = {};  // n_rot / 2 divisors of the frequencies, or empty
  double log_multiplier = 0;            // mscale_all_dim: 0 = not given
};

// The file's own frequency factors, if it has any: `rope_freqs.weight` (Llama 3), else LongRoPE's long or short ones,
// long when the context to be served is larger than the one the model had before it was stretched. The choice holds for
// every position, since keys in the cache were turned by it.
std::vector<float> bind_rope_factors(Binder& b, const RopeHparams& h, int32_t n_ctx);

// factors, where given, are positive and n_rot / 2 of them: the binder has seen to it.
RopeSpec make_rope(const RopeHparams& h, const RopeOptions& options);

}  // namespace ridge
