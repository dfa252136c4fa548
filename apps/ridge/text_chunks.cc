#include "text_chunks.h"

#include <csignal>

namespace ridge::app {
namespace {

volatile std::sig_atomic_t g_stop = 0;

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  g_stop = 0;
  std::signal(SIGINT, [](int) { g_stop = 1; });
}

StopOnInterrupt::~StopOnInterrupt() {
  std::signal(SIGINT, SIG_DFL);
}

bool StopOnInterrupt::is_set() const {
  return g_stop != 0;
}

void add_text_flags(Cli& cli, TextFlags& f) {
  cli.value("-f, --file", f.file, "the text; '-' is standard input");
  cli.value("-p, --prompt", f.prompt, "the text itself");
  cli.value("--chunks", f.n_chunks, "most chunks; -1 = all", -1, 1 << 30);
  cli.flag("--parse-special", f.parse_special, "markers such as <|im_start|> in the text are control tokens");
}

Result<ScoredText> prepare_text(const TextFlags& f, const LoadedModel& model, int n_ctx) {
  if (f.file.empty() == f.prompt.empty())
    return fail(ErrorCode::invalid_argument, "give the text as -f FILE or as -p TEXT, one of them");
  std::string text = f.prompt;
  if (!f.file.empty()) {
    RIDGE_TRY(text, read_text(f.file));
  }
  if (!model.tokenizer) return fail(ErrorCode::bad_file, "the model has no tokeniser");
  ScoredText t;
  RIDGE_TRY(t.tokens, model.tokenizer->encode(text, {.add_special = true, .parse_special = f.parse_special}));
  RIDGE_TRY(t.options.chunks,
            quality::plan_chunks(t.tokens.size(), {.n_ctx = n_ctx, .n_chunks = f.n_chunks, .stride = f.stride}));
  if (model.tokenizer->adds_bos()) t.options.bos = model.tokenizer->special().bos;
  return t;
}

std::string estimate_text(const quality::NllSums& sums) {
  const quality::Estimate ppl = sums.perplexity();
  return fmt::format("Final estimate: PPL = {:.4f} +/- {:.5f}\n", ppl.value, ppl.error);
}

}  // namespace ridge::app
