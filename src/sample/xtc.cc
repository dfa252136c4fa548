// XTC, "exclude top choices": with some probability removes every candidate of at least the threshold except the least
// likely of them; nothing when fewer than two reach it, or when fewer than min_keep would stay.
// Truth: the definition by its author (text-generation-webui pull request 6335). Above 0.5 two candidates cannot reach
// the threshold, so it is off there.
#include "sample/samplers.h"

namespace ridge::sample {

void xtc(Candidates& c, double probability, double threshold, size_t min_keep, double chance) {
  // chance is below 1, so probability 1 always cuts and probability 0 never does.
  if (chance >= probability || threshold > 0.5 || c.size() < 2) return;
  c.sort();
  c.softmax();
  const auto items = c.items();
  const auto limit = static_cast<float>(threshold);
  size_t n_top = 0;
  while (n_top < items.size() && items[n_top].p >= limit) ++n_top;
  if (n_top < 2 || items.size() - (n_top - 1) < min_keep) return;
  c.drop_first(n_top - 1);
}

}  // namespace ridge::sample
