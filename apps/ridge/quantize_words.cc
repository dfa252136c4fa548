#include "quantize_words.h"

#include <charconv>
#include <filesystem>
#include <sstream>

#include "quant/formats.h"

namespace ridge::app {
namespace {

Result<std::optional<DType>> read_type(std::string_view flag, const std::string& name) {
  if (name.empty()) return std::optional<DType>();
  const std::optional<DType> type = dtype_from_name(name);
  const quant::Format* format = type ? quant::find_format(*type) : nullptr;
  if (format == nullptr || format->encode == nullptr) {
    return fail(ErrorCode::invalid_argument, "{}: '{}' is no type that can be written; expected one such as q6_K", flag,
                name);
  }
  return type;
}

// Takes the thread count off the end, if there is one.
Result<void> take_threads(QuantizeWords& w) {
  if (w.words.size() < 3 || quant::find_target(w.words.back()) != nullptr) return {};
  const std::string& last = w.words.back();
  const auto [end, ec] = std::from_chars(last.data(), last.data() + last.size(), w.n_threads);
  if (ec != std::errc() || end != last.data() + last.size() || w.n_threads < 1 || w.n_threads > 1024) {
    return fail(ErrorCode::invalid_argument, "found '{}', expected a type ({}) or 1 to 1024 threads", last,
                quantize_types());
  }
  w.words.pop_back();
  return {};
}

}  // namespace

std::string quantize_types() {
  std::string text;
  for (const quant::Target& t : quant::targets()) text += (text.empty() ? "" : " ") + std::string(t.name);
  return text;
}

void add_quantize_flags(Cli& cli, QuantizeWords& w) {
  quality::QuantiseOptions& o = w.options;
  cli.positionals("words", w.words, "IN.gguf [OUT.gguf] TYPE [THREADS]");
  cli.value("-t, --threads", w.n_threads, "threads; 0 = by affinity, cgroup quota and physical cores", 0, 1024);
  cli.value("--imatrix", o.imatrix_path, "importance matrix, as `ridge imatrix` and llama-imatrix write it");
  cli.values("--tensor-type", w.tensor_types,
             "PATTERN=TYPE: the type of tensors whose names hold the pattern; may be repeated, the first match wins");
  cli.value("--tensor-type-file", w.tensor_type_file, "file of PATTERN=TYPE words");
  cli.value("--output-tensor-type", w.output_type, "type of output.weight");
  cli.value("--token-embedding-type", w.embedding_type, "type of the token embeddings");
  cli.flag("--leave-output-tensor", o.mix.leave_output, "output.weight stays as it is");
  cli.flag("--pure", o.mix.pure, "every matrix the same type, no mix");
  cli.flag("--keep-split", o.keep_split, "a split input gives a split output");
  cli.flag("--allow-requantize", o.allow_requantize, "quantise what is quantised already; the losses add up");
  cli.flag("--dry-run", w.is_dry_run, "list what each tensor would become, and the size; write nothing");
}

Result<void> read_quantize_words(QuantizeWords& w) {
  RIDGE_CHECK_OK(take_threads(w));
  if (w.words.size() < 2 || w.words.size() > 3) {
    return fail(ErrorCode::invalid_argument, "found {} words, expected IN.gguf [OUT.gguf] TYPE [THREADS]; types: {}",
                w.words.size(), quantize_types());
  }
  w.options.target = quant::find_target(w.words.back());
  if (w.options.target == nullptr)
    return fail(ErrorCode::invalid_argument, "type '{}', expected one of {}", w.words.back(), quantize_types());
  w.in = w.words[0];
  w.out = w.words.size() == 3
              ? w.words[1]
              : (std::filesystem::path(w.in).parent_path() / fmt::format("ggml-model-{}.gguf", w.options.target->name))
                    .string();
  w.options.n_threads = w.n_threads;
  RIDGE_TRY(w.options.mix.output, read_type("--output-tensor-type", w.output_type));
  RIDGE_TRY(w.options.mix.token_embedding, read_type("--token-embedding-type", w.embedding_type));
  if (!w.tensor_type_file.empty()) {
    RIDGE_TRY(const std::string text, read_text(w.tensor_type_file));
    std::istringstream in(text);
    for (std::string word; in >> word;) w.tensor_types.push_back(word);
  }
  for (const std::string& text : w.tensor_types) {
    RIDGE_TRY(quant::TypeRule rule, quant::TypeRule::parse(text));
    w.options.mix.rules.push_back(std::move(rule));
  }
  return {};
}

}  // namespace ridge::app
