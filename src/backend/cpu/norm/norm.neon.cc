// The norm kernels for neon.
#include "backend/cpu/simd/vec_neon.h"

#include "backend/cpu/norm/norm_body.h"

namespace ridge::cpu {

extern const NormKernels kNorm__neon;
constinit const NormKernels kNorm__neon = {.rms_norm = rms_norm};

}  // namespace ridge::cpu
