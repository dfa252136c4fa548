// The attention kernels for scalar.
#include "backend/cpu/simd/vec_scalar.h"

#include "backend/cpu/attention/attention_body.h"

namespace ridge::cpu {

extern const AttentionKernels kAttention__scalar;
constinit const AttentionKernels kAttention__scalar = {.softmax_block = softmax_block, .add_values = add_values};

}  // namespace ridge::cpu
