// The attention kernels for neon.
#include "backend/cpu/simd/vec_neon.h"

#include "backend/cpu/attention/attention_body.h"

namespace ridge::cpu {

extern const AttentionKernels kAttention__neon;
constinit const AttentionKernels kAttention__neon = {.softmax_block = softmax_block, .add_values = add_values};

}  // namespace ridge::cpu
