// The rope kernels for neon.
#include "backend/cpu/simd/vec_neon.h"

#include "backend/cpu/rope/rope_body.h"

namespace ridge::cpu {

extern const RopeKernels kRope__neon;
constinit const RopeKernels kRope__neon = {.split_halves = rope_split_halves, .neighbours = rope_neighbours};

}  // namespace ridge::cpu
