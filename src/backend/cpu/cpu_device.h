// The CPU device: kernels of the best instruction set, a thread pool, one parallel region a step.
#pragma once

#include "backend/device.h"

namespace ridge {

Result<std::unique_ptr<Device>> make_cpu_device(const DeviceOptions& options);

}  // namespace ridge
