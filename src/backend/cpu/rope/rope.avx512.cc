// The rope kernels for avx512.
#include "backend/cpu/simd/vec_avx512.h"

#include "backend/cpu/rope/rope_body.h"

namespace ridge::cpu {

extern const RopeKernels kRope__avx512;
constinit const RopeKernels kRope__avx512 = {.split_halves = rope_split_halves, .neighbours = rope_neighbours};

}  // namespace ridge::cpu
