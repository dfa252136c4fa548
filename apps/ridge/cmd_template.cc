// ridge template: what a chat template makes of a conversation.
#include <fmt/core.h>

#include <cstdio>

#include "command.h"
#include "engine/vocab_from_gguf.h"
#include "file/gguf.h"
#include "text/jinja/chat_template.h"
#include "text/tokenizer.h"

namespace ridge::app {
namespace {

// "2024-07-26T12:30:00", "2024-07-26 12:30", "2024-07-26"; a zone or fraction behind it is ignored: the template sees
// local time.
Result<jinja::CivilTime> parse_time(const std::string& text) {
  jinja::CivilTime t;
  const int n =
      std::sscanf(text.c_str(), "%d-%d-%d%*1[T ]%d:%d:%d", &t.year, &t.month, &t.day, &t.hour, &t.minute, &t.second);
  const bool ok = n >= 3 && t.month >= 1 && t.month <= 12 && t.day >= 1 && t.day <= 31 && t.hour >= 0 && t.hour < 24 &&
                  t.minute >= 0 && t.minute < 60 && t.second >= 0 && t.second <= 60;
  if (!ok)
    return fail(ErrorCode::invalid_argument, "--now: found '{}', expected a time such as 2024-07-26T12:30:00", text);
  return t;
}

// The template of a model file, and its bos_token and eos_token.
struct ModelTemplate {
  std::string source, bos, eos;
};

Result<ModelTemplate> template_of_model(const std::string& path) {
  RIDGE_TRY(const GgufFile file, GgufFile::open(path));
  RIDGE_TRY(const std::string_view source, file.get_or<std::string_view>("tokenizer.chat_template", ""));
  if (source.empty())
    return fail(ErrorCode::unsupported, "'{}' has no chat template (key 'tokenizer.chat_template')", path);
  ModelTemplate t{.source = std::string(source), .bos = "", .eos = ""};
  RIDGE_TRY(VocabData vocab, vocab_from_gguf(file));
  const auto text_of = [&vocab](const std::optional<int64_t>& id) {
    return id && *id >= 0 && *id < static_cast<int64_t>(vocab.tokens.size()) ? vocab.tokens[static_cast<size_t>(*id)]
                                                                             : std::string();
  };
  t.bos = text_of(vocab.bos), t.eos = text_of(vocab.eos);
  return t;
}

// What the variables do not say, the model does.
jinja::Value with_defaults(const jinja::Value& variables, const ModelTemplate& t) {
  auto entries = variables.as_dict().entries;
  const auto add = [&](const char* key, const std::string& text) {
    if (variables.as_dict().find(key) == nullptr && !text.empty()) {
      entries.emplace_back(jinja::Value::trusted_string(key), jinja::Value::trusted_string(text));
    }
  };
  add("bos_token", t.bos);
  add("eos_token", t.eos);
  return jinja::Value::dict(std::move(entries));
}

struct TemplateFlags {
  std::string model, template_path, vars_path, now;
};

Result<std::string> render(const TemplateFlags& f) {
  ModelTemplate t;
  if (!f.template_path.empty()) {
    RIDGE_TRY(t.source, read_text(f.template_path));
  } else {
    RIDGE_TRY(t, template_of_model(f.model));
  }
  std::string json = "{\"messages\": []}";
  if (!f.vars_path.empty()) {
    RIDGE_TRY(json, read_text(f.vars_path));
  }
  RIDGE_TRY(const jinja::Value variables, jinja::value_from_json(json));
  if (!variables.is(jinja::Kind::dict)) return fail(ErrorCode::invalid_argument, "--vars: expected a JSON object");
  jinja::RenderOptions options;
  if (!f.now.empty()) {
    RIDGE_TRY(options.now, parse_time(f.now));
  }
  RIDGE_TRY(const jinja::ChatTemplate chat_template, jinja::ChatTemplate::parse(t.source));
  return chat_template.render(with_defaults(variables, t), options);
}

}  // namespace

int cmd_template(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("template", "render a chat template; the text goes to standard output as it is, without a newline behind it");
  TemplateFlags flags;
  cli.value("-m, --model", flags.model, "GGUF file whose template to use");
  cli.value("--template, --chat-template-file", flags.template_path,
            "file that holds a template (Jinja); - for standard input");
  cli.value("--vars", flags.vars_path,
            "JSON object: messages, tools, add_generation_prompt, bos_token, ...; - for standard input");
  cli.value("--now", flags.now, "what the clock says: 2024-07-26T12:30:00; default: the machine's local time");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (flags.model.empty() == flags.template_path.empty()) {
    return report({ErrorCode::invalid_argument, "give either a model (-m FILE) or a template (--template FILE)"});
  }
  const auto text = render(flags);
  if (!text) return report(text.error());
  return put(*text) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
