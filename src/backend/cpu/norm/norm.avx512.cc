// The norm kernels for avx512.
#include "backend/cpu/simd/vec_avx512.h"

#include "backend/cpu/norm/norm_body.h"

namespace ridge::cpu {

extern const NormKernels kNorm__avx512;
constinit const NormKernels kNorm__avx512 = {.rms_norm = rms_norm};

}  // namespace ridge::cpu
