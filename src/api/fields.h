// The shared fields of generating requests; inside src/api only.
#pragma once

#include "api/generation.h"
#include "api/json.h"

namespace ridge::api {

// Sampling parameters by their table, stop, stream, seed, max_tokens, n, logit_bias, ... `g` holds the defaults.
void read_generation(Fields& fields, Generation& g);
// What is known and not built yet: tools, functions, ... refused by name.
void refuse_unsupported(Fields& fields);

// Errors: invalid_argument.
Result<Prompt> prompt_of(const Json& value);
// The prompts of a field that is a text, ids, or an array of either.
Result<std::vector<Prompt>> prompts_of(const Json& value);

Json timings_json(const RequestAccount& account);
Json timings_json(uint64_t n_prompt, const TokenEvent& event, uint64_t n_so_far);
Json accounts_json(const RequestAccount& account, const TimeBudget& whole);
Json token_probability_json(const AnswerHead& head, const TokenEvent& event, bool post_sampling);

}  // namespace ridge::api
