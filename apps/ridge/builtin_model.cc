#include "builtin_model.h"

#include <array>
#include <filesystem>
#include <system_error>

namespace ridge::app {

Result<std::string> find_builtin_model() {
  std::error_code ec;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
  const std::array places{program / "builtin.gguf", program.parent_path() / "share" / "ridge" / "builtin.gguf"};
  if (!ec) {
    for (const std::filesystem::path& place : places) {
      if (std::filesystem::is_regular_file(place, ec)) return place.string();
    }
  }
  return fail(ErrorCode::not_found,
              "no model: give a GGUF file with -m FILE; the built-in one is neither '{}' nor '{}' (it is "
              "models/builtin.gguf of the source tree)",
              places[0].string(), places[1].string());
}

Result<void> choose_model(ModelFlags& flags) {
  if (!flags.options.model_path.empty()) return {};
  RIDGE_TRY(flags.options.model_path, find_builtin_model());
  flags.is_builtin = true;
  warn("the built-in model answers; it knows inference and Ridge. Bigger: -m FILE");
  return {};
}

void builtin_sampling(const Cli& cli, const ModelFlags& flags, SamplingParams& params) {
  if (flags.is_builtin && !cli.given("--temp")) params.temperature = 0;
}

}  // namespace ridge::app
