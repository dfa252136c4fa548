// The architectures: which `general.architecture` this program runs, and how it says no to the others.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "model/model.h"

namespace ridge {

struct Architecture {
  std::string_view name;  // as general.architecture has it
  // Reads the numbers, binds the weights. nullptr: known, and not supported by this version.
  Result<std::unique_ptr<Model>> (*load)(const GgufFile& file, const ModelOptions& options);
  std::string_view needs;  // what a known but unsupported one waits for
};

std::span<const Architecture> architectures();
// Errors: unsupported, with the list of those that are supported.
Result<const Architecture*> find_architecture(std::string_view name);

// Errors: not_found, bad_file, unsupported (the architecture, a format), limit; the device's. File, device and ledger
// outlive the model.
Result<std::unique_ptr<Model>> load_model(const GgufFile& file, const ModelOptions& options);

}  // namespace ridge
