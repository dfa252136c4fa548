// Reading, writing and checking of sampling parameters by their table; see params.h.
#include "sample/params.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace ridge::sample {

namespace {

// Long or unprintable values are shown shortened: a message must not carry a megabyte of a caller's text.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 48)) out += (c >= 0x20 && c < 0x7f) ? c : '?';
  if (text.size() > 48) out += "...";
  return out;
}

std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

std::optional<double> to_real(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Int>
std::optional<Int> to_integer(std::string_view text) {
  text = without_plus(text);
  Int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Calls use(part) for each part of text between separators; stops at the first error.
template <class Use>
Result<void> for_each_part(std::string_view text, char separator, Use use) {
  while (true) {
    const size_t at = text.find(separator);
    RIDGE_CHECK_OK(use(text.substr(0, at)));
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + 1);
  }
}

bool listed(std::string_view list, char separator, std::string_view word) {
  bool found = false;
  (void)for_each_part(list, separator, [&](std::string_view part) -> Result<void> {
    found = found || (!part.empty() && part == word);
    return {};
  });
  return found;
}

tl::unexpected<Error> out_of_range(const SamplingField& field, std::string_view found) {
  return fail(ErrorCode::invalid_argument, "{}: found {}, expected {} from {} to {}", field.name, shown(found),
              field.kind == FieldKind::integer ? "a whole number" : "a number", field.min, field.max);
}

std::string known_samplers() {
  std::string names;
  for (const SamplerName& n : sampler_names()) names += fmt::format("{}{}", names.empty() ? "" : ";", n.name);
  return names;
}

Result<SamplerKind> sampler_by_name(std::string_view name) {
  for (const SamplerName& n : sampler_names()) {
    if (n.name == name || listed(n.aliases, ';', name)) return n.kind;
  }
  return fail(ErrorCode::invalid_argument, "samplers: found '{}', expected names out of {}", shown(name),
              known_samplers());
}

Result<SamplerKind> sampler_by_letter(char letter) {
  std::string letters;
  for (const SamplerName& n : sampler_names()) {
    if (n.letter == letter) return n.kind;
    letters += n.letter;
  }
  return fail(ErrorCode::invalid_argument, "sampler_seq: found '{}', expected letters out of {}",
              shown(std::string_view(&letter, 1)), letters);
}

Result<void> add_sampler(std::vector<SamplerKind>& list, Result<SamplerKind> kind) {
  if (!kind) return tl::unexpected<Error>(std::move(kind.error()));
  if (list.size() == kMaxSamplers) {
    return fail(ErrorCode::limit, "samplers: found more than {} entries, expected at most {}", kMaxSamplers,
                kMaxSamplers);
  }
  list.push_back(*kind);
  return {};
}

Result<void> set_samplers(SamplingParams& params, std::string_view value, bool letters) {
  std::vector<SamplerKind> list;
  if (letters) {
    for (const char c : value) RIDGE_CHECK_OK(add_sampler(list, sampler_by_letter(c)));
  } else if (!value.empty()) {
    RIDGE_CHECK_OK(
        for_each_part(value, ';', [&](std::string_view n) { return add_sampler(list, sampler_by_name(n)); }));
  }
  params.samplers = std::move(list);
  return {};
}

Result<void> set_breaker(SamplingParams& params, std::string_view value) {
  if (value == "none") {
    params.dry_sequence_breakers.clear();
    params.dry_breakers_are_default = false;
    return {};
  }
  if (value.empty() || value.size() > kMaxBreakerBytes) {
    return fail(ErrorCode::invalid_argument, "dry_sequence_breakers: found a text of {} bytes, expected 1 to {}",
                value.size(), kMaxBreakerBytes);
  }
  if (params.dry_breakers_are_default) params.dry_sequence_breakers.clear();
  params.dry_breakers_are_default = false;
  if (params.dry_sequence_breakers.size() == kMaxBreakers) {
    return fail(ErrorCode::limit, "dry_sequence_breakers: found more than {}, expected at most {}", kMaxBreakers,
                kMaxBreakers);
  }
  params.dry_sequence_breakers.emplace_back(value);
  return {};
}

Result<void> set_seed(SamplingParams& params, std::string_view value) {
  // -1 alone means "draw one". Every other number is a seed of its own; a negative one is its two's complement.
  if (const auto negative = to_integer<int64_t>(value); negative && *negative < 0) {
    params.seed = *negative == -1 ? std::nullopt : std::optional<uint64_t>(static_cast<uint64_t>(*negative));
    return {};
  }
  const auto seed = to_integer<uint64_t>(value);
  if (!seed) {
    return fail(ErrorCode::invalid_argument,
                "seed: found '{}', expected a whole number from -2^63 to 2^64-1 (-1: random)", shown(value));
  }
  params.seed = *seed;
  return {};
}

Result<void> set_logit_biases(SamplingParams& params, std::string_view value) {
  SamplingParams copy = params;
  RIDGE_CHECK_OK(for_each_part(value, ',', [&](std::string_view part) -> Result<void> {
    const size_t sign = part.find_first_of("+-", 1);
    const auto bias = sign == std::string_view::npos ? std::nullopt : to_real(part.substr(sign));
    if (!bias) {
      return fail(ErrorCode::invalid_argument, "logit_bias: found '{}', expected TOKEN_ID followed by +BIAS or -BIAS",
                  shown(part));
    }
    return add_logit_bias(copy, part.substr(0, sign), *bias);
  }));
  params.logit_bias = std::move(copy.logit_bias);
  return {};
}

Result<void> set_boolean(SamplingParams& params, const SamplingField& field, std::string_view value) {
  const bool yes = value.empty() || listed("1;on;true;enabled", ';', value);
  if (!yes && !listed("0;off;false;disabled", ';', value)) {
    return fail(ErrorCode::invalid_argument, "{}: found '{}', expected 1/on/true/enabled or 0/off/false/disabled",
                field.name, shown(value));
  }
  params.*std::get<bool SamplingParams::*>(field.member) = yes;
  return {};
}

Result<void> set_number(SamplingParams& params, const SamplingField& field, std::string_view value) {
  const auto number = to_real(value);
  const bool whole = field.kind == FieldKind::integer;
  // The comparison is written so that NaN fails it.
  if (!number || !(*number >= field.min && *number <= field.max) || (whole && *number != std::floor(*number))) {
    return out_of_range(field, value.empty() ? "nothing" : value);
  }
  if (whole) params.*std::get<int32_t SamplingParams::*>(field.member) = static_cast<int32_t>(*number);
  if (!whole) params.*std::get<double SamplingParams::*>(field.member) = *number;
  return {};
}

// The value of a real or integer field.
double number_of(const SamplingParams& params, const SamplingField& field) {
  if (field.kind == FieldKind::integer) return params.*std::get<int32_t SamplingParams::*>(field.member);
  return params.*std::get<double SamplingParams::*>(field.member);
}

Result<void> validate_lists(const SamplingParams& params, int32_t n_vocab) {
  if (params.logit_bias.size() > kMaxLogitBias || params.samplers.size() > kMaxSamplers ||
      params.dry_sequence_breakers.size() > kMaxBreakers) {
    return fail(ErrorCode::limit,
                "found {} logit biases, {} samplers and {} DRY sequence breakers, expected at most {}, {} and {}",
                params.logit_bias.size(), params.samplers.size(), params.dry_sequence_breakers.size(), kMaxLogitBias,
                kMaxSamplers, kMaxBreakers);
  }
  for (const LogitBias& b : params.logit_bias) {
    if (b.token < 0 || b.token >= n_vocab) {
      return fail(ErrorCode::invalid_argument, "logit_bias: found token id {}, expected 0 to {} (the vocabulary)",
                  b.token, n_vocab - 1);
    }
    if (!(b.bias >= -100 && b.bias <= 100) && b.bias != -std::numeric_limits<float>::infinity()) {
      return fail(ErrorCode::invalid_argument,
                  "logit_bias: found {} for token {}, expected -100 to 100, or -inf to ban it", b.bias, b.token);
    }
  }
  for (const std::string& breaker : params.dry_sequence_breakers) {
    if (breaker.empty() || breaker.size() > kMaxBreakerBytes) {
      return fail(ErrorCode::invalid_argument, "dry_sequence_breakers: found a text of {} bytes, expected 1 to {}",
                  breaker.size(), kMaxBreakerBytes);
    }
  }
  return {};
}

}  // namespace

const SamplingField* find_sampling_field(std::string_view flag_or_key) {
  for (const SamplingField& f : sampling_fields()) {
    if (f.name == flag_or_key || (!f.json.empty() && f.json == flag_or_key) || listed(f.flags, ' ', flag_or_key))
      return &f;
  }
  return nullptr;
}

Result<void> set_field(SamplingParams& params, std::string_view flag_or_key, std::string_view value) {
  const SamplingField* field = find_sampling_field(flag_or_key);
  if (field == nullptr) {
    return fail(ErrorCode::not_found, "found no sampling parameter '{}', expected a flag or key of the table of fields",
                shown(flag_or_key));
  }
  switch (field->kind) {
    case FieldKind::real:
    case FieldKind::integer:
      return set_number(params, *field, value);
    case FieldKind::boolean:
      return set_boolean(params, *field, value);
    case FieldKind::seed:
      return set_seed(params, value);
    case FieldKind::samplers:
      return set_samplers(params, value, false);
    case FieldKind::sampler_letters:
      return set_samplers(params, value, true);
    case FieldKind::logit_bias:
      return set_logit_biases(params, value);
    case FieldKind::breakers:
      return set_breaker(params, value);
  }
  return fail(ErrorCode::internal, "sampling field '{}' has no kind", field->name);
}

std::string field_text(const SamplingParams& params, const SamplingField& field) {
  std::string text;
  switch (field.kind) {
    case FieldKind::real:
    case FieldKind::integer:
      return fmt::format("{}", number_of(params, field));
    case FieldKind::boolean:
      return params.*std::get<bool SamplingParams::*>(field.member) ? "true" : "false";
    case FieldKind::seed:
      return params.seed ? fmt::format("{}", *params.seed) : "-1";
    case FieldKind::samplers:
    case FieldKind::sampler_letters:
      for (const SamplerKind kind : params.samplers) {
        const auto names = sampler_names();
        const auto it = std::find_if(names.begin(), names.end(), [&](const SamplerName& n) { return n.kind == kind; });
        if (field.kind == FieldKind::sampler_letters) text += it->letter;
        if (field.kind == FieldKind::samplers) text += fmt::format("{}{}", text.empty() ? "" : ";", it->name);
      }
      return text;
    case FieldKind::logit_bias:
      for (const LogitBias& b : params.logit_bias)
        text += fmt::format("{}{}{:+}", text.empty() ? "" : ",", b.token, b.bias);
      return text;
    case FieldKind::breakers:
      for (const std::string& b : params.dry_sequence_breakers) {
        if (!text.empty()) text += ' ';
        for (const char c : b) text += c == '\n' ? "\\n" : shown(std::string_view(&c, 1));
      }
      return text;
  }
  return text;
}

Result<void> add_logit_bias(SamplingParams& params, std::string_view token_id, double bias) {
  const auto id = to_integer<int64_t>(token_id);
  if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
    return fail(ErrorCode::invalid_argument,
                "logit_bias: found token id '{}', expected a whole number of the vocabulary", shown(token_id));
  }
  if (!(bias >= -100 && bias <= 100) && bias != -std::numeric_limits<double>::infinity()) {
    return fail(ErrorCode::invalid_argument,
                "logit_bias: found {} for token {}, expected -100 to 100, or -inf to ban it", bias, *id);
  }
  if (params.logit_bias.size() == kMaxLogitBias) {
    return fail(ErrorCode::limit, "logit_bias: found more than {} entries, expected at most {}", kMaxLogitBias,
                kMaxLogitBias);
  }
  params.logit_bias.push_back({static_cast<int32_t>(*id), static_cast<float>(bias)});
  return {};
}

Result<void> validate(const SamplingParams& params, int32_t n_vocab) {
  for (const SamplingField& f : sampling_fields()) {
    if (f.kind != FieldKind::real && f.kind != FieldKind::integer) continue;
    const double value = number_of(params, f);
    if (!(value >= f.min && value <= f.max)) return out_of_range(f, fmt::format("{}", value));
  }
  if (n_vocab < 1)
    return fail(ErrorCode::invalid_argument, "found a vocabulary of {} tokens, expected at least 1", n_vocab);
  if (params.n_probs > n_vocab) {
    return fail(ErrorCode::invalid_argument, "n_probs: found {}, expected at most the {} tokens of the vocabulary",
                params.n_probs, n_vocab);
  }
  return validate_lists(params, n_vocab);
}

bool is_neutral(const SamplingParams& p, SamplerKind kind) {
  switch (kind) {
    case SamplerKind::penalties:
      return p.repeat_last_n == 0 || (p.repeat_penalty == 1 && p.presence_penalty == 0 && p.frequency_penalty == 0);
    case SamplerKind::dry:
      return p.dry_multiplier == 0 || p.dry_penalty_last_n == 0;
    case SamplerKind::top_n_sigma:
      return p.top_n_sigma <= 0;
    case SamplerKind::top_k:
      return p.top_k <= 0;
    case SamplerKind::typical:
      return p.typical_p >= 1;
    case SamplerKind::top_p:
      return p.top_p >= 1;
    case SamplerKind::min_p:
      return p.min_p <= 0;
    case SamplerKind::xtc:
      return p.xtc_probability <= 0 || p.xtc_threshold > 0.5;
    case SamplerKind::temperature:
      return p.temperature == 1 && p.dynatemp_range <= 0;
  }
  return false;
}

std::string describe_chain(const SamplingParams& params) {
  std::string text = "logits";
  if (!params.logit_bias.empty() || params.ignore_eos) text += " -> logit-bias";
  if (params.mirostat == 0) {
    for (const SamplerKind kind : params.samplers) {
      for (const SamplerName& n : sampler_names()) {
        if (n.kind == kind) text += fmt::format(" -> {}{}", is_neutral(params, kind) ? "?" : "", n.display);
      }
    }
  }
  if (params.mirostat != 0) text += fmt::format(" -> temp -> mirostat{}", params.mirostat == 2 ? "-v2" : "");
  return text + (params.temperature <= 0 ? " -> greedy" : params.mirostat != 0 ? "" : " -> dist");
}

}  // namespace ridge::sample
