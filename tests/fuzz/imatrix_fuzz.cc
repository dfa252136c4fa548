// Any bytes as an importance matrix, in either of its forms: refused with a message, or read with as many values as it
// says, none of them negative or no number.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "quality/imatrix.h"

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > size_t{1} << 20) return 0;
  const auto m = ridge::quality::Imatrix::parse(std::as_bytes(std::span(data, size)));
  if (!m) {
    require(!m.error().message.empty());
    return 0;
  }
  for (const auto& [name, e] : m->entries) {
    require(e.sums.size() == static_cast<size_t>(e.n_cols * e.n_experts()));
    const auto weights = m->importance(name, e.n_cols, e.n_experts());
    require(weights && weights->size() == e.sums.size());
    for (const float w : *weights) require(std::isfinite(w) && w >= 0);
  }
  return 0;
}
