// ridge tokenize: text to token ids and back.
#include <fmt/core.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "command.h"
#include "engine/vocab_from_gguf.h"
#include "file/gguf.h"
#include "text/tokenizer.h"

namespace ridge::app {
namespace {

using Json = nlohmann::json;

struct TokenizeJob {
  bool special = false, bos = false, ids_only = false, decode = false;
};

std::string as_json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string list_of(const std::vector<int32_t>& ids) {
  return Json(ids).dump();
}

Result<std::vector<int32_t>> ids_from_json(const std::string& line) {
  const Json doc = Json::parse(line, nullptr, false);
  const Json& list = doc.is_object() && doc.contains("ids") ? doc["ids"] : doc;
  std::vector<int32_t> ids;
  if (!list.is_array()) return fail(ErrorCode::invalid_argument, "expected an array of token ids or {{\"ids\":[...]}}");
  for (const Json& x : list) {
    if (!x.is_number_integer())
      return fail(ErrorCode::invalid_argument, "token id {}: expected a whole number", ids.size() + 1);
    ids.push_back(x.get<int32_t>());
  }
  return ids;
}

// One line in, one line out; a bad line ends the run with its number.
Result<void> run_lines(const Tokenizer& t, const TokenizeJob& job) {
  std::string line;
  for (size_t n = 1; std::getline(std::cin, line); ++n) {
    if (line.empty()) continue;
    const auto in_line = [n](const Error& e) { return in_context(fmt::format("line {}", n), e); };
    if (job.decode) {
      const auto ids = ids_from_json(line);
      if (!ids) return in_line(ids.error());
      std::cout << as_json_string(t.decode(*ids, {.render_special = job.special})) << '\n';
      continue;
    }
    const Json doc = Json::parse(line, nullptr, false);
    if (!doc.is_string()) return in_line({ErrorCode::invalid_argument, "expected a JSON string"});
    const auto ids =
        t.encode(doc.get_ref<const std::string&>(), {.add_special = job.bos, .parse_special = job.special});
    if (!ids) return in_line(ids.error());
    std::cout << "{\"ids\":" << list_of(*ids) << "}\n";
  }
  std::cout.flush();
  return {};
}

Result<void> run_text(const Tokenizer& t, const TokenizeJob& job, const std::string& text) {
  if (job.decode) {
    RIDGE_TRY(const std::vector<int32_t> ids, parse_ids(text));
    put(utf8_sanitise(t.decode(ids, {.render_special = job.special})) + "\n");
    return {};
  }
  RIDGE_TRY(const std::vector<int32_t> ids, t.encode(text, {.add_special = job.bos, .parse_special = job.special}));
  if (job.ids_only) {
    put(list_of(ids) + "\n");
    return {};
  }
  std::string out;
  for (const int32_t id : ids) out += fmt::format("{:6} -> {}\n", id, as_json_string(t.piece(id, true)));
  put(out);
  return {};
}

}  // namespace

int cmd_tokenize(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("tokenize", "text to token ids; with --decode, ids to text. Without TEXT it reads standard input");
  std::string model, text;
  TokenizeJob job;
  bool jsonl = false;
  cli.value("-m, --model", model, "GGUF file; one that holds only a vocabulary will do");
  cli.flag("--special, --parse-special", job.special,
           "recognise control tokens in the text (with --decode: show them)");
  cli.flag("--bos, --add-special", job.bos, "add the tokens that the file asks for at the ends");
  cli.flag("--ids", job.ids_only, "print [1,2,3] instead of a line a token");
  cli.flag("--jsonl", jsonl, "a JSON string a line on standard input, {\"ids\":[...]} a line on standard output");
  cli.flag("--decode", job.decode, "the other way: ids (1,2,3) to text");
  cli.positional("TEXT", text, "the text");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (model.empty()) return report({ErrorCode::invalid_argument, "no vocabulary: give a GGUF file with -m FILE"});

  const auto run = [&]() -> Result<void> {
    RIDGE_TRY(const GgufFile file, GgufFile::open(model));
    RIDGE_TRY(VocabData vocab, vocab_from_gguf(file));
    RIDGE_TRY(const auto tokenizer, Tokenizer::create(std::move(vocab)));
    for (const std::string& w : tokenizer->warnings()) warn(w);
    if (jsonl) return run_lines(*tokenizer, job);
    if (!cli.has_positional()) {
      RIDGE_TRY(text, read_text("-"));
    }
    return run_text(*tokenizer, job, text);
  };
  if (const auto done = run(); !done) return report(done.error());
  return kExitOk;
}

}  // namespace ridge::app
