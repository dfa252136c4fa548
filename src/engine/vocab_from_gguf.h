// Fills the tokeniser's plain data from a model file's tokenizer.ggml.* keys.
#pragma once

#include "base/result.h"
#include "file/gguf.h"
#include "text/vocab.h"

namespace ridge {

// Errors: bad_file where a key has another kind than its name promises; not_found where the file holds no vocabulary.
Result<VocabData> vocab_from_gguf(const GgufFile& file);

}  // namespace ridge
