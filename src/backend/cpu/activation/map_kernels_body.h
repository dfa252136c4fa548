// The table of element-by-element kernels that all instruction sets share; included after one of the vec_*.h.
#pragma once

#include "backend/cpu/activation/map_body.h"

namespace ridge::cpu {
namespace {

using EncodeKernel = void (*)(const float*, uint8_t*, int64_t);

constexpr MapKernels map_kernels(EncodeKernel encode_f16, EncodeKernel encode_bf16) {
  return {
      .add = map_add,
      .mul = map_mul,
      .scale = map_scale,
      .softcap = map_softcap,
      .exp = map_exp,
      .silu = map_silu,
      .gelu_tanh = map_gelu_tanh,
      .gelu_erf = map_gelu_erf,
      .relu = map_relu,
      .sigmoid = map_sigmoid,
      .swiglu_oai = map_swiglu_oai,
      .encode_f16 = encode_f16,
      .encode_bf16 = encode_bf16,
  };
}

}  // namespace
}  // namespace ridge::cpu
