// ridge inspect: what is in a GGUF file, whether this build can run it, and what it will take in memory.
#include <fmt/core.h>

#include <algorithm>

#include "backend/device.h"
#include "base/utf8.h"
#include "command.h"
#include "device/machine.h"
#include "engine/forecast.h"
#include "engine/loader.h"
#include "engine/vocab_from_gguf.h"
#include "model/registry.h"
#include "term.h"

namespace ridge::app {
namespace {

// As much of a value as fits a line of a terminal; control characters are shown, not obeyed.
std::string preview(const MetaValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return printable(*text);
  if (const auto* list = std::get_if<StringArray>(&value)) {
    std::string out = fmt::format("{} strings [", list->size());
    for (size_t i = 0; i < std::min<size_t>(3, list->size()); ++i)
      out += fmt::format("{}'{}'", i > 0 ? ", " : "", printable((*list)[i]).substr(0, 24));
    return utf8_sanitise(out) + (list->size() > 3 ? ", ...]" : "]");
  }
  return describe(value);
}

std::string shape_of(const TensorView& t) {
  std::string out;
  for (uint32_t d = 0; d < t.n_dims; ++d) out += fmt::format("{}{}", d > 0 ? " x " : "", t.ne[d]);
  return out;
}

void print_metadata(const GgufFile& file, const Style& style) {
  Table table({"key", "value"}, {false, false});
  for (const MetaEntry& e : file.metadata()) table.row({printable(e.key), preview(e.value)});
  put(style.bold(fmt::format("metadata ({} keys)", file.metadata().size())) + "\n" + table.text(style));
}

void print_tensors(const GgufFile& file, const Style& style) {
  Table table({"tensor", "shape", "format", "bytes"}, {false, true, false, true});
  for (const TensorView& t : file.tensors()) {
    table.row({printable(t.name), shape_of(t), std::string(info(t.dtype).name), human_bytes(t.n_bytes())});
  }
  put(style.bold(fmt::format("tensors ({})", file.tensors().size())) + "\n" + table.text(style));
}

void print_formats(const GgufFile& file, const Style& style) {
  Table table({"format", "tensors", "parameters", "bytes", "bits a weight"}, {false, true, true, true, true});
  for (const FormatCount& f : file.formats()) {
    const double bits = f.n_elems > 0 ? 8.0 * static_cast<double>(f.n_bytes) / static_cast<double>(f.n_elems) : 0.0;
    table.row({std::string(info(f.dtype).name), std::to_string(f.n_tensors), grouped(f.n_elems), human_bytes(f.n_bytes),
               fmt::format("{:.2f}", bits)});
  }
  put(style.bold("formats") + "\n" + table.text(style));
}

void print_vocabulary(const GgufFile& file, const Style& style) {
  std::string line;
  if (!file.has("tokenizer.ggml.model")) {
    line = "none in this file";
  } else {
    auto vocab = vocab_from_gguf(file);
    auto tokenizer = vocab ? Tokenizer::create(std::move(*vocab)) : tl::unexpected<Error>(vocab.error());
    line = tokenizer ? fmt::format("{}{}{}, {} tokens", (*tokenizer)->kind(), (*tokenizer)->pre().empty() ? "" : " ",
                                   (*tokenizer)->pre(), (*tokenizer)->n_vocab())
                     : style.bad("cannot be used: ") + tokenizer.error().message;
  }
  put(style.bold("vocabulary") + "  " + line + "\n");
}

Result<void> print_forecast(const GgufFile& file, const ModelFlags& flags, const Style& style) {
  RIDGE_TRY(const DType k, parse_kv_type(flags.options.type_k));
  RIDGE_TRY(const DType v, parse_kv_type(flags.options.type_v));
  const auto model = load_model(file, {.n_ctx = flags.options.n_ctx});
  if (!model) {
    put(style.bold("model") + "  " + style.bad("cannot run here: ") + model.error().message + "\n");
    return {};
  }
  RIDGE_TRY(const auto device,
            make_device(flags.options.backend, {.n_threads = flags.options.n_threads, .isa = flags.options.isa}));
  std::string note;
  const int32_t n_ctx = choose_context(flags.options, (*model)->config().n_ctx_train, note);
  const ForecastOptions wanted{.n_ctx = n_ctx,
                               .n_ubatch = std::min(flags.options.n_ubatch, n_ctx),
                               .max_out_rows = flags.options.n_parallel,
                               .kv = {k, v},
                               .device = device.get()};
  RIDGE_TRY(const Forecast f, forecast_memory(**model, wanted));
  Table table({"owner", "part", "predicted"}, {false, false, true});
  for (const MemoryLine& l : f.lines) table.row({l.owner, l.detail, human_bytes(l.predicted_bytes)});
  table.rule();
  table.row({"sum", "", human_bytes(f.total_bytes)});
  std::string text = style.bold(fmt::format("memory for a context of {}", n_ctx)) +
                     fmt::format(" (-ub {}, K {}, V {})\n", wanted.n_ubatch, info(k).name, info(v).name) +
                     table.text(style);
  text += fmt::format("  each position of context costs {}\n", human_bytes(f.bytes_a_position));
  if (const auto budget = memory_budget_bytes()) {
    RIDGE_TRY(const int32_t fits, largest_context(**model, wanted, *budget));
    text += fmt::format("  available here: {}; the largest context that fits is {}\n", human_bytes(*budget),
                        grouped(static_cast<uint64_t>(fits)));
  }
  if (!note.empty()) text += "  " + note + "\n";
  for (const std::string& unused : (*model)->unused_tensors())
    text += fmt::format("  tensor '{}' is not used by this architecture\n", printable(unused));
  put(text);
  return {};
}

}  // namespace

int cmd_inspect(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("inspect", "metadata, tensors, formats and predicted memory of a GGUF file");
  ModelFlags flags;
  std::string path;
  bool no_tensors = false;
  add_model_flags(cli, flags);
  cli.flag("--no-tensors", no_tensors, "leave out the tensor table");
  cli.positional("FILE", path, "the file (or -m FILE)");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (!path.empty()) flags.options.model_path = path;
  if (const auto ok = check_model_flags(flags); !ok) return report(ok.error());

  const auto file = GgufFile::open(flags.options.model_path);
  if (!file) return report(file.error());
  const Style style{is_terminal(1)};
  put(style.bold("file") + fmt::format("  {}, GGUF version {}, {} in {} part{}, alignment {}\n",
                                       flags.options.model_path, file->version(), human_bytes(file->file_bytes()),
                                       file->shards().size(), file->shards().size() == 1 ? "" : "s",
                                       file->alignment()));
  if (file->get_or<bool>("ridge.synthetic", false).value_or(false)) warn("synthetic weights, speed only");
  print_metadata(*file, style);
  print_vocabulary(*file, style);
  if (file->tensors().empty()) {
    put(style.bold("model") + "  none: the file holds no tensors\n");
    return kExitOk;
  }
  if (!no_tensors) print_tensors(*file, style);
  print_formats(*file, style);
  if (const auto done = print_forecast(*file, flags, style); !done) return report(done.error());
  return kExitOk;
}

}  // namespace ridge::app
