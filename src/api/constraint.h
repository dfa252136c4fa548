// The fields that say what an answer must look like: OpenAI's response_format, llama-server's grammar and json_schema,
// vLLM's guided_*. Inside src/api only. What the constraint holds is checked where it is compiled, by the engine.
#pragma once

#include "api/generation.h"
#include "api/json.h"

namespace ridge::api {

// Sets g.constraint. Errors name the field: a form that is none of these, or two constraints at once.
void read_constraint(Fields& fields, Generation& g);

}  // namespace ridge::api
