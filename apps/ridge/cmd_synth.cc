// ridge synth: a model of known shapes with random weights, to measure speed without a download.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "bench/synth.h"
#include "command.h"
#include "term.h"

namespace ridge::app {
namespace {

std::string names_of_shapes() {
  std::string out;
  for (const bench::SynthShape& s : bench::synth_shapes()) out += fmt::format("{}{}", out.empty() ? "" : ", ", s.name);
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<const quant::Target*> find_format(const std::string& name) {
  if (const quant::Target* t = quant::find_target(name)) return t;
  std::string names;
  for (const quant::Target& t : quant::targets()) names += fmt::format("{}{}", names.empty() ? "" : ", ", t.name);
  return fail(ErrorCode::invalid_argument, "--format: found '{}', expected one of {}", name, names);
}

// One line that overwrites itself, on a terminal only.
std::function<void(uint64_t, uint64_t)> progress() {
  if (!is_terminal(2)) return {};
  return [last = -1](uint64_t done, uint64_t all) mutable {
    const int percent = static_cast<int>(100 * done / std::max<uint64_t>(1, all));
    if (percent == last) return;
    last = percent;
    std::fprintf(stderr, "\r%3d %%%s", percent, percent == 100 ? "\n" : "");
  };
}

}  // namespace

int cmd_synth(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("synth", "a GGUF file with the shapes of a known model and random weights: speed only");
  std::string like, format = "q4_k_m", out;
  int n_layers = 0, seed = 1;
  bool force = false;
  cli.value("--like", like, "the model: " + names_of_shapes());
  cli.value("--format", format, "a type of llama-quantize, whose choice for each tensor is made here too");
  cli.value("-o, --output", out, "the file; empty = NAME-FORMAT-synthetic.gguf here");
  cli.value("--layers", n_layers, "another number of layers; 0 = as many as the model has", 0, 1000);
  cli.value("--seed", seed, "of the random weights", 0, 1 << 30);
  cli.flag("--force", force, "write over a file that exists");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;

  auto shape = bench::find_shape(like);
  if (!shape) return report(shape.error());
  const auto target = find_format(format);
  if (!target) return report(target.error());
  if (out.empty()) out = fmt::format("{}-{}-synthetic.gguf", like, lower(std::string((*target)->name)));
  std::error_code ec;
  if (!force && std::filesystem::exists(out, ec)) {
    return report({ErrorCode::invalid_argument, fmt::format("'{}' exists; --force writes over it", out)});
  }
  if (n_layers > 0) shape->n_layer = n_layers;
  const auto done = bench::write_synthetic(
      out, {.shape = *shape, .target = *target, .seed = static_cast<uint64_t>(seed), .on_progress = progress()});
  if (!done) return report(done.error());
  std::string text =
      fmt::format("{}: {} tensors, {} parameters, {} as {}; synthetic weights, speed only\n", out, done->n_tensors,
                  grouped(done->n_params), human_bytes(done->tensor_bytes), (*target)->name);
  if (done->n_fallbacks > 0) {
    text += fmt::format(
        "{} tensors have rows that are no whole blocks of their type and got another, as in llama-quantize\n",
        done->n_fallbacks);
  }
  return put(text) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
