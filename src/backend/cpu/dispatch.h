// Picks the kernel set, once, visibly. The kernel tables themselves are named in dispatch.cc and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/kernel_set.h"
#include "base/result.h"
#include "tensor/dtype.h"

namespace ridge::cpu {

struct KernelChoice {
  const KernelSet* kernels = nullptr;
  std::string reason;  // one sentence
};

// The sets that this machine can run, best first; scalar is always the last.
std::vector<const KernelSet*> available_kernels();
// wanted "": the best. Error: unsupported, with the list of those available.
Result<KernelChoice> choose_kernels(std::string_view wanted);

// The kernels of a format, or nullptr: then rows are unpacked by quant/.
const FormatKernels* format_kernels(const KernelSet& kernels, DType type);

// The kernel that multiplies prepared panels of a format, or nullptr: then products are of floats.
PanelMultiply panel_kernel(const KernelSet& kernels, DType type);

}  // namespace ridge::cpu
