// The norm kernels for scalar.
#include "backend/cpu/simd/vec_scalar.h"

#include "backend/cpu/norm/norm_body.h"

namespace ridge::cpu {

extern const NormKernels kNorm__scalar;
constinit const NormKernels kNorm__scalar = {.rms_norm = rms_norm};

}  // namespace ridge::cpu
