// The element-by-element kernels for avx512.
#include "backend/cpu/simd/vec_avx512.h"

#include "backend/cpu/activation/encode_body.h"
#include "backend/cpu/activation/map_kernels_body.h"

namespace ridge::cpu {

extern const MapKernels kMap__avx512;
constinit const MapKernels kMap__avx512 = map_kernels(encode_f16, encode_bf16);

}  // namespace ridge::cpu
