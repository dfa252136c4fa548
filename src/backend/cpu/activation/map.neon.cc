// The element-by-element kernels for neon.
#include "backend/cpu/simd/vec_neon.h"

#include "backend/cpu/activation/encode_body.h"
#include "backend/cpu/activation/map_kernels_body.h"

namespace ridge::cpu {

extern const MapKernels kMap__neon;
constinit const MapKernels kMap__neon = map_kernels(encode_f16, encode_bf16);

}  // namespace ridge::cpu
