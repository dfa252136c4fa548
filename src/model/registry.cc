// One row an architecture. The only file that names them.
#include "model/registry.h"

#include <string>

#include "model/arch/arch.h"

namespace ridge {
namespace {

constexpr std::string_view kLatent = "multi-head latent attention";
constexpr std::string_view kConv = "short convolutions with a state of their own";
constexpr std::string_view kDelta = "gated linear attention with a recurrent state";

constexpr Architecture kTable[] = {
    {"llama", arch::load_llama, ""},       {"qwen2", arch::load_qwen2, ""},
    {"qwen3", arch::load_qwen3, ""},       {"mistral3", arch::load_mistral3, ""},
    {"smollm3", arch::load_smollm3, ""},   {"phi3", arch::load_phi3, ""},
    {"gemma2", arch::load_gemma2, ""},     {"granite", arch::load_granite, ""},
    {"glm4", arch::load_glm4, ""},         {"qwen2moe", arch::load_qwen2moe, ""},
    {"qwen3moe", arch::load_qwen3moe, ""}, {"gpt-oss", arch::load_gpt_oss, ""},
    {"deepseek2", nullptr, kLatent},       {"lfm2", nullptr, kConv},
    {"lfm2moe", nullptr, kConv},           {"qwen35", nullptr, kDelta},
    {"qwen35moe", nullptr, kDelta},        {"qwen3next", nullptr, kDelta},
};

std::string supported_names() {
  std::string names;
  for (const Architecture& row : kTable) {
    if (row.load != nullptr) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  return names;
}

}  // namespace

std::span<const Architecture> architectures() {
  return kTable;
}

Result<const Architecture*> find_architecture(std::string_view name) {
  for (const Architecture& row : kTable) {
    if (row.name != name) continue;
    if (row.load != nullptr) return &row;
    return fail(ErrorCode::unsupported,
                "architecture '{}' is known but not supported yet: it needs {}; supported are: {}", name, row.needs,
                supported_names());
  }
  return fail(ErrorCode::unsupported, "architecture '{}' is not known; supported are: {}", printable(name),
              supported_names());
}

Result<std::unique_ptr<Model>> load_model(const GgufFile& file, const ModelOptions& options) {
  RIDGE_TRY(const std::string_view name, file.get_string("general.architecture"));
  RIDGE_TRY(const Architecture* row, find_architecture(name));
  return row->load(file, options);
}

}  // namespace ridge
