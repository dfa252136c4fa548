// The norm kernels for avx2.
#include "backend/cpu/simd/vec_avx2.h"

#include "backend/cpu/norm/norm_body.h"

namespace ridge::cpu {

extern const NormKernels kNorm__avx2;
constinit const NormKernels kNorm__avx2 = {.rms_norm = rms_norm};

}  // namespace ridge::cpu
