// The rope kernels for avx2.
#include "backend/cpu/simd/vec_avx2.h"

#include "backend/cpu/rope/rope_body.h"

namespace ridge::cpu {

extern const RopeKernels kRope__avx2;
constinit const RopeKernels kRope__avx2 = {.split_halves = rope_split_halves, .neighbours = rope_neighbours};

}  // namespace ridge::cpu
