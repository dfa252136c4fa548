// The element-by-element kernels for avx2.
#include "backend/cpu/simd/vec_avx2.h"

#include "backend/cpu/activation/encode_body.h"
#include "backend/cpu/activation/map_kernels_body.h"

namespace ridge::cpu {

extern const MapKernels kMap__avx2;
constinit const MapKernels kMap__avx2 = map_kernels(encode_f16, encode_bf16);

}  // namespace ridge::cpu
