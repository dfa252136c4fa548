// Top-k: keeps the k most likely candidates. Truth: Fan, Lewis, Dauphin 2018 (arXiv:1805.04833).
#include "sample/samplers.h"

namespace ridge::sample {

void top_k(Candidates& c, int32_t k) {
  if (k > 0) c.keep_top(static_cast<size_t>(k));
}

}  // namespace ridge::sample
