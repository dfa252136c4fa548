// The tables of --kl-divergence, with the names and the order of llama-perplexity's.
#pragma once

#include <string>

#include "quality/perplexity.h"

namespace ridge::app {

std::string divergence_heading();
// One line a chunk, of everything up to it.
std::string divergence_line(size_t chunk_idx, const quality::Divergence& d);
std::string divergence_text(const quality::Divergence& d);

}  // namespace ridge::app
