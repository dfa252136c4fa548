// The matmul table of one SIMD instruction set; included after its vec_*.h.
#pragma once

#include "backend/cpu/matmul/block_products_body.h"
#include "backend/cpu/matmul/float_formats_body.h"
#include "backend/cpu/matmul/small_formats_body.h"
#include "backend/cpu/matmul/super_formats_body.h"
#include "backend/cpu/matmul/tile_body.h"

namespace ridge::cpu {
namespace {

constexpr MatmulKernels matmul_kernels() {
  return {
      .tile = tile,
      .f32 = float_kernels<F32Reader>(),
      .f16 = float_kernels<F16Reader>(),
      .bf16 = float_kernels<Bf16Reader>(),
      .q4_0 = block_kernels<Q4_0>(),
      .q4_1 = block_kernels<Q4_1>(),
      .q5_0 = block_kernels<Q5_0>(),
      .q5_1 = block_kernels<Q5_1>(),
      .q8_0 = block_kernels<Q8_0>(),
      .q2_k = block_kernels<Q2K>(),
      .q3_k = block_kernels<Q3K>(),
      .q4_k = block_kernels<Q4K>(),
      .q5_k = block_kernels<Q5K>(),
      .q6_k = block_kernels<Q6K>(),
      .iq4_nl = block_kernels<IQ4_NL>(),
      .iq4_xs = block_kernels<IQ4_XS>(),
      .mxfp4 = block_kernels<MXFP4>(),
  };
}

}  // namespace
}  // namespace ridge::cpu
