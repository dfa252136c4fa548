// The loaders of all architectures, for registry.cc. One file each; what a model does differently from others is in its
// own file only.
#pragma once

#include <memory>

#include "model/blocks.h"
#include "model/model.h"

namespace ridge::arch {

using Loaded = Result<std::unique_ptr<Model>>;

Loaded load_llama(const GgufFile& file, const ModelOptions& options);
Loaded load_qwen2(const GgufFile& file, const ModelOptions& options);
Loaded load_qwen3(const GgufFile& file, const ModelOptions& options);
Loaded load_mistral3(const GgufFile& file, const ModelOptions& options);
Loaded load_smollm3(const GgufFile& file, const ModelOptions& options);
Loaded load_phi3(const GgufFile& file, const ModelOptions& options);
Loaded load_gemma2(const GgufFile& file, const ModelOptions& options);
Loaded load_granite(const GgufFile& file, const ModelOptions& options);
Loaded load_glm4(const GgufFile& file, const ModelOptions& options);
Loaded load_qwen2moe(const GgufFile& file, const ModelOptions& options);
Loaded load_qwen3moe(const GgufFile& file, const ModelOptions& options);
Loaded load_gpt_oss(const GgufFile& file, const ModelOptions& options);

}  // namespace ridge::arch
