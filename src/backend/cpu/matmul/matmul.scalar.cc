// The matmul kernels without SIMD: the tile only; rows are unpacked by quant/.
#include "backend/cpu/simd/vec_scalar.h"

#include "backend/cpu/matmul/tile_body.h"

namespace ridge::cpu {

extern const MatmulKernels kMatmul__scalar;
constinit const MatmulKernels kMatmul__scalar = {.tile = tile,
                                                 .f32 = {},
                                                 .f16 = {},
                                                 .bf16 = {},
                                                 .q4_0 = {},
                                                 .q4_1 = {},
                                                 .q5_0 = {},
                                                 .q5_1 = {},
                                                 .q8_0 = {},
                                                 .q2_k = {},
                                                 .q3_k = {},
                                                 .q4_k = {},
                                                 .q5_k = {},
                                                 .q6_k = {},
                                                 .iq4_nl = {},
                                                 .iq4_xs = {},
                                                 .mxfp4 = {}};

}  // namespace ridge::cpu
