// The matmul kernels for avx512.
#include "backend/cpu/simd/vec_avx512.h"

#include "backend/cpu/matmul/matmul_kernels_body.h"

namespace ridge::cpu {

extern const MatmulKernels kMatmul__avx512;
constinit const MatmulKernels kMatmul__avx512 = matmul_kernels();

}  // namespace ridge::cpu
