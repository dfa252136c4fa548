// The matmul kernels for neon.
#include "backend/cpu/simd/vec_neon.h"

#include "backend/cpu/matmul/matmul_kernels_body.h"

namespace ridge::cpu {

extern const MatmulKernels kMatmul__neon;
constinit const MatmulKernels kMatmul__neon = matmul_kernels();

}  // namespace ridge::cpu
