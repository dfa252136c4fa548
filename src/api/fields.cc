#include "api/fields.h"

#include "api/constraint.h"

#include <algorithm>
#include <cmath>

#include "sample/params.h"

namespace ridge::api {
namespace {

// set_field() says "temperature: found 7e9, ..."; at this door a field's name stands in quotes.
void set_sampling(Fields& f, SamplingParams& params, std::string_view key, std::string_view value) {
  auto ok = sample::set_field(params, key, value);
  if (ok) return;
  const std::string_view message = ok.error().message;
  const size_t colon = message.find(": ");
  f.error(key, colon == std::string_view::npos ? message : message.substr(colon + 2));
}

void read_list(Fields& f, SamplingParams& params, const sample::SamplingField& field, const Json& v) {
  if (v.is_string()) {
    // For `samplers` a text of letters or of names with ';', as on the command line.
    const auto& text = v.get_ref<const std::string&>();
    const bool letters = field.kind == sample::FieldKind::samplers && text.find(';') == std::string::npos &&
                         !sample::set_field(params, field.json, text);
    return set_sampling(f, params, letters ? std::string_view("sampler_seq") : field.json, text);
  }
  if (!v.is_array()) return f.error(field.json, fmt::format("found {}, expected an array of texts", shown(v)));
  std::string joined;
  const bool breakers = field.kind == sample::FieldKind::breakers;
  if (breakers) set_sampling(f, params, field.json, "none");
  for (const Json& item : v) {
    if (!item.is_string())
      return f.error(field.json, fmt::format("found {} in the array, expected texts", shown(item)));
    const auto& text = item.get_ref<const std::string&>();
    if (breakers) set_sampling(f, params, field.json, text);
    joined += (joined.empty() ? "" : ";") + text;
  }
  if (!breakers) set_sampling(f, params, field.json, joined);
}

void read_bias_entry(Fields& f, SamplingParams& params, std::string_view id, const Json& bias) {
  const bool ban = bias.is_boolean() && !bias.get<bool>();
  if (!ban && !bias.is_number())
    return f.error("logit_bias", fmt::format("found {} for token {}, expected a number or false", shown(bias), id));
  const double value = ban ? -INFINITY : bias.get<double>();
  if (const auto ok = sample::add_logit_bias(params, id, value); !ok) f.error("logit_bias", ok.error().message);
}

// OpenAI's {"15043": 1.5}, llama-server's [[15043, 1.5], [7, false]].
void read_logit_bias(Fields& f, SamplingParams& params) {
  const Json* v = f.value("logit_bias");
  if (v == nullptr) return;
  if (v->size() > kMaxBiasEntries)
    return f.error("logit_bias", fmt::format("found {} entries, expected at most {}", v->size(), kMaxBiasEntries));
  if (v->is_object()) {
    for (const auto& [id, bias] : v->items()) read_bias_entry(f, params, id, bias);
    return;
  }
  if (!v->is_array()) return f.error("logit_bias", fmt::format("found {}, expected an object or an array", shown(*v)));
  for (const Json& pair : *v) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer())
      return f.error("logit_bias", fmt::format("found {}, expected pairs of a token id and a bias", shown(pair)));
    read_bias_entry(f, params, dump(pair[0]), pair[1]);
  }
}

void read_sampling(Fields& f, SamplingParams& params) {
  for (const sample::SamplingField& field : sample::sampling_fields()) {
    if (field.json.empty() || field.kind == sample::FieldKind::logit_bias) continue;
    const Json* v = f.value(field.json);
    if (v == nullptr) continue;
    if (field.kind == sample::FieldKind::samplers || field.kind == sample::FieldKind::breakers) {
      read_list(f, params, field, *v);
    } else if (field.kind == sample::FieldKind::boolean) {
      if (!v->is_boolean()) return f.error(field.json, fmt::format("found {}, expected true or false", shown(*v)));
      set_sampling(f, params, field.json, v->get<bool>() ? "1" : "0");
    } else {
      if (!v->is_number()) return f.error(field.json, fmt::format("found {}, expected a number", shown(*v)));
      const double number = v->get<double>();
      // A whole number written as 40.0 is one.
      const bool whole = v->is_number_float() && std::nearbyint(number) == number && std::abs(number) < 1e15;
      set_sampling(f, params, field.json, whole ? fmt::format("{:.0f}", number) : dump(*v));
    }
  }
  // The name that OpenAI's clients know a longer spelling of.
  const Json* typical = f.value("typ_p");
  if (typical != nullptr && typical->is_number()) set_sampling(f, params, "typical_p", dump(*typical));
  read_logit_bias(f, params);
}

}  // namespace

void read_generation(Fields& f, Generation& g) {
  read_sampling(f, g.sampling);
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  f.integer("n_predict", g.max_tokens, -1, kMost);
  f.integer("max_tokens", g.max_tokens, -1, kMost);
  f.integer("max_completion_tokens", g.max_tokens, -1, kMost);
  f.texts("stop", g.stop, 16);
  f.integer("n", g.n, 1, kMaxChoices);
  f.boolean("stream", g.stream);
  f.boolean("timings_per_token", g.timings_per_token);
  f.boolean("accounts", g.accounts);
  f.boolean("return_tokens", g.return_tokens);
  read_constraint(f, g);
  if (const Json* options = f.value("stream_options"); options != nullptr) {
    if (!options->is_object()) return f.error("stream_options", "expected an object");
    Fields inner(*options, "stream_options.");
    inner.boolean("include_usage", g.include_usage);
    f.keep(inner.done());
  }
}

void refuse_unsupported(Fields& f) {
  constexpr std::string_view kLater = "this field is known and not supported yet: leave it out";
  for (const char* name : {"tools", "functions", "function_call", "return_progress", "response_fields", "lora", "audio",
                           "prediction", "reasoning_effort", "web_search_options", "mirostat_seed", "n_indent",
                           "t_max_predict_ms", "suffix", "modalities"}) {
    if (std::string_view(name) == "modalities") {
      f.refuse(name, "only text can be generated", {Json::array({"text"})});
    } else {
      f.refuse(name, kLater, {Json(0), Json("none")});
    }
  }
  f.refuse("tool_choice", kLater, {Json("none"), Json("auto")});
  f.refuse("best_of", "only 1 is supported; use n", {Json(1)});
}

Result<Prompt> prompt_of(const Json& value) {
  Prompt p;
  if (value.is_string()) {
    p.text = value.get<std::string>();
    return p;
  }
  p.is_tokens = true;
  RIDGE_TRY(p.tokens, token_ids(value, "prompt"));
  return p;
}

Result<std::vector<Prompt>> prompts_of(const Json& value) {
  std::vector<Prompt> prompts;
  const bool is_list = value.is_array() && !value.empty() && (value.front().is_string() || value.front().is_array());
  if (!value.is_string() && !value.is_array())
    return fail(ErrorCode::invalid_argument, "'prompt': found {}, expected a text, token ids, or an array of either",
                shown(value));
  if (!is_list) {
    RIDGE_TRY(Prompt one, prompt_of(value));
    prompts.push_back(std::move(one));
    return prompts;
  }
  if (value.size() > kMaxPrompts)
    return fail(ErrorCode::invalid_argument, "'prompt': found {} prompts, expected at most {}", value.size(),
                kMaxPrompts);
  for (const Json& item : value) {
    RIDGE_TRY(Prompt one, prompt_of(item));
    prompts.push_back(std::move(one));
  }
  return prompts;
}

}  // namespace ridge::api
