// Min-p: keeps candidates whose probability is at least p times that of the most likely one, and at least min_keep.
// The rule is one of logits (logit >= best + ln p), so no exponential is needed. Truth: Nguyen et al. 2024
// (arXiv:2407.01082).
#include <cmath>

#include "sample/samplers.h"

namespace ridge::sample {

void min_p(Candidates& c, double p, size_t min_keep) {
  if (p <= 0) return;
  const float limit = std::max(c.max_logit() + static_cast<float>(std::log(p)), -std::numeric_limits<float>::max());
  const auto passes = [limit](const Candidate& x) { return x.logit >= limit; };
  size_t n = 0;
  if (c.dense()) {
    for (const float x : c.logits()) n += x >= limit;
    if (n >= min_keep) return c.materialise_above(limit);
  } else {
    const auto items = c.items();
    n = static_cast<size_t>(std::count_if(items.begin(), items.end(), passes));
    if (n >= min_keep) {
      std::copy_if(items.begin(), items.end(), items.begin(), passes);  // keeps the order, sorted or not
      return c.keep_first(n);
    }
  }
  c.keep_top(min_keep);
}

}  // namespace ridge::sample
