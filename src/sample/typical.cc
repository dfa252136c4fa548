// Locally typical sampling: candidates in order of how far their surprise is from the expected surprise (the entropy),
// until their probability passes p, and at least min_keep. The most likely candidate may go. Truth: Meister et al. 2022
// (arXiv:2202.00666).
//
// Surprise is (a constant) - logit, so |surprise - expected surprise| is |logit - expected logit|: no logarithm is
// needed.
#include <cmath>

#include "sample/samplers.h"

namespace ridge::sample {

void typical(Candidates& c, double p, size_t min_keep) {
  if (p >= 1) return;
  c.softmax();
  double expected = 0;
  for (const Candidate& x : c.items()) expected += x.p > 0 ? static_cast<double>(x.p) * x.logit : 0.0;
  const auto closer = [expected](const Candidate& a, const Candidate& b) {
    const double da = std::abs(a.logit - expected);
    const double db = std::abs(b.logit - expected);
    return da != db ? da < db : MoreLikely{}(a, b);
  };
  double sum = 0;
  const size_t n = take_in_order(c.items(), false, closer, [&](const Candidate& x, size_t i) {
    sum += x.p;
    return sum > p && i + 1 >= min_keep;
  });
  c.keep_first(n);
  c.set_sorted(n < 2);
}

}  // namespace ridge::sample
