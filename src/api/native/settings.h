// A generation's settings as JSON with llama-server's keys; inside src/api only.
#pragma once

#include "api/generation.h"
#include "api/json.h"

namespace ridge::api {

Json settings_json(const Generation& generation);

}  // namespace ridge::api
