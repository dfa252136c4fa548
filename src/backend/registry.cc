// The backends: one row each. The only file outside backend/X that names them.
#include "backend/cpu/cpu_device.h"
#include "backend/device.h"
#include "backend/reference/reference_device.h"

namespace ridge {
namespace {

struct Row {
  std::string_view name;
  Result<std::unique_ptr<Device>> (*make)(const DeviceOptions&);
};

constexpr Row kBackends[] = {
    {"cpu", make_cpu_device},
    {"reference", make_reference_device},
};

}  // namespace

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kBackends) names.push_back(row.name);
  return names;
}

Result<std::unique_ptr<Device>> make_device(std::string_view name, const DeviceOptions& options) {
  std::string known;
  for (const Row& row : kBackends) {
    if (row.name == name) return row.make(options);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  return fail(ErrorCode::not_found, "no backend '{}'; this build has: {}", name, known);
}

}  // namespace ridge
