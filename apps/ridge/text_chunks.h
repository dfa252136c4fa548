// What `ridge perplexity` and `ridge imatrix` share: the flags of text and chunks, the text as tokens, Ctrl-C between
// chunks, the running estimate "[1]x.xxxx,[2]x.xxxx," as llama-perplexity prints it.
#pragma once

#include <string>

#include "command.h"
#include "quality/perplexity.h"

namespace ridge::app {

struct TextFlags {
  std::string file, prompt;
  int n_chunks = -1;
  int stride = 0;
  bool parse_special = false;
};
void add_text_flags(Cli& cli, TextFlags& flags);

struct ScoredText {
  std::vector<int32_t> tokens;
  quality::ScoreOptions options;  // chunks and the begin token
};
// Errors: of reading, tokenising and plan_chunks; bad_file for a model without a tokeniser.
Result<ScoredText> prepare_text(const TextFlags& flags, const LoadedModel& model, int n_ctx);

// Until it dies, Ctrl-C sets a flag instead of ending the program.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  bool is_set() const;
};

// "Final estimate: PPL = 1.2345 +/- 0.01234"
std::string estimate_text(const quality::NllSums& sums);

}  // namespace ridge::app
