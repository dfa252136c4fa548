// What work costs: FLOPs and bytes by kind. A verb of the Program computes its own from the operands that it touches.
#pragma once

#include <cstdint>

namespace ridge {

struct Traffic {
  double flops = 0;         // multiply and add count as two
  double weight_bytes = 0;  // weights read, in their stored format
  double kv_read_bytes = 0;
  double kv_write_bytes = 0;
  double activation_bytes = 0;  // activations read and written
  double bytes() const { return weight_bytes + kv_read_bytes + kv_write_bytes + activation_bytes; }
  Traffic& operator+=(const Traffic& o) {
    flops += o.flops;
    weight_bytes += o.weight_bytes;
    kv_read_bytes += o.kv_read_bytes;
    kv_write_bytes += o.kv_write_bytes;
    activation_bytes += o.activation_bytes;
    return *this;
  }
};

}  // namespace ridge
