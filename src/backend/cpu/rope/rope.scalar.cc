// The rope kernels for scalar.
#include "backend/cpu/simd/vec_scalar.h"

#include "backend/cpu/rope/rope_body.h"

namespace ridge::cpu {

extern const RopeKernels kRope__scalar;
constinit const RopeKernels kRope__scalar = {.split_halves = rope_split_halves, .neighbours = rope_neighbours};

}  // namespace ridge::cpu
