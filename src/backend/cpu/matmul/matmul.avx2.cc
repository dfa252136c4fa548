// The matmul kernels for avx2.
#include "backend/cpu/simd/vec_avx2.h"

#include "backend/cpu/matmul/matmul_kernels_body.h"

namespace ridge::cpu {

extern const MatmulKernels kMatmul__avx2;
constinit const MatmulKernels kMatmul__avx2 = matmul_kernels();

}  // namespace ridge::cpu
