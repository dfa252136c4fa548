// Nucleus sampling: the smallest set of the most likely candidates whose probability reaches p, and at least min_keep.
// Truth: Holtzman et al. 2019 (arXiv:1904.09751).
#include "sample/samplers.h"

namespace ridge::sample {

void top_p(Candidates& c, double p, size_t min_keep) {
  if (p >= 1) return;
  c.softmax();
  double sum = 0;
  const size_t n = take_in_order(c.items(), c.sorted(), MoreLikely{}, [&](const Candidate& x, size_t i) {
    sum += x.p;
    return sum >= p && i + 1 >= min_keep;
  });
  c.keep_first(n);
  c.set_sorted(true);
}

}  // namespace ridge::sample
