// The stateless samplers: each takes the candidates and leaves fewer, or other logits. At least one candidate always
// stays. Order of the list after a call is stated by Candidates::sorted(); p is not kept valid between samplers. Truth:
// the published definitions, named in each file, with the edge rules that users of llama.cpp know.
#pragma once

#include "sample/candidates.h"

namespace ridge::sample {

void top_n_sigma(Candidates& c, double n);               // n <= 0: nothing
void top_k(Candidates& c, int32_t k);                    // k <= 0: nothing
void typical(Candidates& c, double p, size_t min_keep);  // p >= 1: nothing
void top_p(Candidates& c, double p, size_t min_keep);    // p >= 1: nothing
void min_p(Candidates& c, double p, size_t min_keep);    // p <= 0: nothing
// chance: the random number in [0, 1) that decides whether this step is cut.
void xtc(Candidates& c, double probability, double threshold, size_t min_keep, double chance);
void temperature(Candidates& c, double t);  // t <= 0: only the most likely stays
void dynamic_temperature(Candidates& c, double t, double range, double exponent);

}  // namespace ridge::sample
