// The oracle: scalar, one thread, double accumulators, no cleverness. Every other backend is tested against it. Never
// optimised.
#pragma once

#include "backend/device.h"

namespace ridge {

Result<std::unique_ptr<Device>> make_reference_device(const DeviceOptions& options);

}  // namespace ridge
