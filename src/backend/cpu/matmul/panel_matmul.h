// A MatMul whose weight lies in panels.
#pragma once

#include "backend/cpu/matmul/panels.h"
#include "backend/cpu/step.h"

namespace ridge::cpu {

// Quantises x (unless the verb before used the same one), waits for all workers, multiplies. Every worker calls it.
void multiply_panels(const Step& s, const Worker& w, const PanelMatrix& m, const verb::MatMul& v);

// Whether all columns of x fit into the packed activations at once: only then may the next verb use them again.
bool packs_at_once(const Step& s, const verb::MatMul& v);

// The bytes of packed activations that steps with this many arena floats need.
size_t packed_bytes(int64_t arena_floats);

}  // namespace ridge::cpu
