// The element-by-element kernels for scalar.
#include "backend/cpu/simd/vec_scalar.h"

#include "backend/cpu/activation/map_kernels_body.h"

namespace ridge::cpu {

extern const MapKernels kMap__scalar;
constinit const MapKernels kMap__scalar = map_kernels(nullptr, nullptr);

}  // namespace ridge::cpu
