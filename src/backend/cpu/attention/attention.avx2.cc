// The attention kernels for avx2.
#include "backend/cpu/simd/vec_avx2.h"

#include "backend/cpu/attention/attention_body.h"

namespace ridge::cpu {

extern const AttentionKernels kAttention__avx2;
constinit const AttentionKernels kAttention__avx2 = {.softmax_block = softmax_block, .add_values = add_values};

}  // namespace ridge::cpu
