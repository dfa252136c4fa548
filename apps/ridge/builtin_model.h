// The model that comes with the program: what answers when no -m is given.
#pragma once

#include "command.h"

namespace ridge::app {

// models/builtin.gguf as the build put it beside the program, or as an installation keeps it under share/ridge.
// Errors: not_found, with the places that were looked at.
Result<std::string> find_builtin_model();

// Without -m, the built-in model is chosen and a line on standard error says so. Errors: not_found.
Result<void> choose_model(ModelFlags& flags);

// A model this small knows its sentences by heart: greedy unless --temp says otherwise.
void builtin_sampling(const Cli& cli, const ModelFlags& flags, SamplingParams& params);

}  // namespace ridge::app
