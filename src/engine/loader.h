// Loading: file -> vocabulary -> template -> device -> bound model. Everything that is immutable once an engine runs.
#pragma once

#include <memory>
#include <optional>

#include "account/stages.h"
#include "backend/device.h"
#include "file/gguf.h"
#include "model/model.h"
#include "ridge/engine.h"
#include "text/jinja/chat_template.h"
#include "text/tokenizer.h"

namespace ridge {

// Members in the order of their dependence: the model's weights point into the file, so the file dies last.
struct LoadedModel {
  std::unique_ptr<MemoryLedger> ledger;
  std::unique_ptr<GgufFile> file;
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<jinja::ChatTemplate> chat_template;
  std::string template_error;  // why chat_template is empty although the file has one
  std::unique_ptr<Device> device;
  std::unique_ptr<Model> model;
  ModelInfo info;
  std::string placement_note;
  double resident_share = 0;
};

struct LoadParts {
  bool tokenizer = true;  // `ridge logits` on a tiny test model needs none
  bool chat_template = true;
};

// Errors: as Engine::load.
Result<LoadedModel> load_model_file(const EngineOptions& options, const LoadParts& parts, TimeBook& book);

// The context that an engine will hold: as asked, else what the model was trained for up to 4096; `note` says when it
// was cut.
int32_t choose_context(const EngineOptions& options, int32_t n_ctx_train, std::string& note);

}  // namespace ridge
