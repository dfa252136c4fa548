#include "engine/loader.h"

#include <algorithm>

#include "backend/placement.h"
#include "base/mapped_file.h"
#include "engine/vocab_from_gguf.h"
#include "model/registry.h"

namespace ridge {
namespace {

// Where -c is not given: enough for a conversation, and never gigabytes by accident for a model trained on 128
// thousand.
constexpr int32_t kDefaultContext = 4096;

void tell(const EngineOptions& options, Stage stage, double share) {
  if (options.on_progress) options.on_progress(to_string(stage), share);
}

Result<void> load_text(const EngineOptions& options, const LoadParts& parts, TimeBook& book, LoadedModel& m) {
  if (parts.tokenizer) {
    const ScopedSpan span(book, Stage::load_tokenizer);
    RIDGE_TRY(VocabData vocab, vocab_from_gguf(*m.file));
    m.info.tokenizer = vocab.pre.empty() ? vocab.model : fmt::format("{} ({})", vocab.model, vocab.pre);
    RIDGE_TRY(m.tokenizer, Tokenizer::create(std::move(vocab)));
    const SpecialIds& ids = m.tokenizer->special();
    if (ids.bos) m.info.bos_text = m.tokenizer->piece(*ids.bos, true);
    if (ids.eos) m.info.eos_text = m.tokenizer->piece(*ids.eos, true);
    m.ledger->add(MemoryOwner::tokenizer, "vocabulary", m.tokenizer->memory_bytes());
  }
  tell(options, Stage::load_tokenizer, 0.5);
  if (!parts.chat_template) return {};
  const ScopedSpan span(book, Stage::load_template);
  std::string source = options.chat_template;
  if (source.empty()) {
    RIDGE_TRY(const std::string_view found, m.file->get_or<std::string_view>("tokenizer.chat_template", ""));
    source = found;
  }
  if (source.empty()) return {};
  m.info.has_chat_template = true;
  m.info.chat_template = source;
  auto parsed = jinja::ChatTemplate::parse(source);
  // A model whose template cannot be parsed still completes text; using the template then gives this error, never
  // another template.
  if (parsed) {
    m.chat_template = std::move(*parsed);
  } else {
    m.template_error = parsed.error().message;
  }
  return {};
}

void describe_model(const EngineOptions& options, LoadedModel& m) {
  const Hparams& h = m.model->config();
  m.info.path = options.model_path;
  m.info.name = h.name;
  m.info.architecture = h.arch;
  m.info.file_bytes = m.file->file_bytes();
  m.info.n_params = static_cast<uint64_t>(m.model->n_params());
  m.info.n_layers = h.n_layer;
  m.info.n_embd = h.n_embd;
  m.info.n_vocab = h.n_vocab;
  m.info.n_ctx_train = h.n_ctx_train;
  for (const FormatCount& f : m.file->formats()) {
    m.info.formats.push_back({std::string(info(f.dtype).name), f.n_tensors, f.n_bytes});
  }
}

}  // namespace

int32_t choose_context(const EngineOptions& options, int32_t n_ctx_train, std::string& note) {
  if (options.n_ctx > 0) {
    if (options.n_ctx > n_ctx_train) {
      note = fmt::format("context {} is longer than the {} the model was trained for; answers may degrade",
                         options.n_ctx, n_ctx_train);
    }
    return options.n_ctx;
  }
  if (n_ctx_train <= kDefaultContext) return n_ctx_train;
  note = fmt::format("context {} of the model's {}; -c takes more", kDefaultContext, n_ctx_train);
  return kDefaultContext;
}

Result<LoadedModel> load_model_file(const EngineOptions& options, const LoadParts& parts, TimeBook& book) {
  LoadedModel m;
  m.ledger = std::make_unique<MemoryLedger>();
  {
    // Looked at before anything reads the file: afterwards its pages are resident because of us.
    const ScopedSpan span(book, Stage::open_file);
    RIDGE_TRY(const MappedFile probe, MappedFile::open(options.model_path));
    const auto resident = probe.residency();
    m.resident_share =
        resident.n_pages > 0 ? static_cast<double>(resident.n_resident) / static_cast<double>(resident.n_pages) : 1.0;
  }
  {
    const ScopedSpan span(book, Stage::read_metadata);
    RIDGE_TRY(GgufFile file, GgufFile::open(options.model_path));
    m.file = std::make_unique<GgufFile>(std::move(file));
  }
  tell(options, Stage::read_metadata, 0.1);
  // The architecture decides first: there is no use in building a vocabulary of 200 thousand words for a model that
  // cannot run.
  RIDGE_TRY(const std::string_view arch, m.file->get_string("general.architecture"));
  RIDGE_CHECK_OK(find_architecture(arch));
  RIDGE_CHECK_OK(load_text(options, parts, book, m));
  {
    const ScopedSpan span(book, Stage::start_device);
    RIDGE_TRY(m.device, make_device(options.backend,
                                    {.n_threads = options.n_threads, .isa = options.isa, .ledger = m.ledger.get()}));
  }
  {
    const ScopedSpan span(book, Stage::bind_weights);
    RIDGE_TRY(m.model,
              load_model(*m.file, {.n_ctx = options.n_ctx, .device = m.device.get(), .ledger = m.ledger.get()}));
    describe_model(options, m);
  }
  tell(options, Stage::bind_weights, 0.9);
  m.info.n_ctx = choose_context(options, m.info.n_ctx_train, m.info.note);
  RIDGE_TRY(m.info.is_synthetic, m.file->get_or<bool>("ridge.synthetic", false));
  if (m.info.is_synthetic) {
    m.info.note = fmt::format("synthetic weights, speed only{}{}", m.info.note.empty() ? "" : "; ", m.info.note);
  }
  if (m.tokenizer && m.tokenizer->n_vocab() > m.info.n_vocab) {
    return fail(ErrorCode::bad_file, "the vocabulary has {} tokens and the embedding table {} rows",
                m.tokenizer->n_vocab(), m.info.n_vocab);
  }
  m.placement_note = place_layers(options.n_gpu_layers, m.info.n_layers).note;
  return m;
}

}  // namespace ridge
