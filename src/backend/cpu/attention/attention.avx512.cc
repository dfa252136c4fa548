// The attention kernels for avx512.
#include "backend/cpu/simd/vec_avx512.h"

#include "backend/cpu/attention/attention_body.h"

namespace ridge::cpu {

extern const AttentionKernels kAttention__avx512;
constinit const AttentionKernels kAttention__avx512 = {.softmax_block = softmax_block, .add_values = add_values};

}  // namespace ridge::cpu
