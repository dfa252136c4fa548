// Source: the GGUF specification's tokenizer keys. Only kinds are checked here; text/ checks what the values mean.
#include "engine/vocab_from_gguf.h"

namespace ridge {
namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";

std::string key(std::string_view name) {
  return std::string(kPrefix) + std::string(name);
}

Result<void> read_strings(const GgufFile& file, std::string_view name, std::vector<std::string>& out) {
  if (!file.has(key(name))) return {};
  RIDGE_TRY(const auto views, file.get_strings(key(name)));
  out.assign(views.begin(), views.end());
  return {};
}

}  // namespace

Result<VocabData> vocab_from_gguf(const GgufFile& file) {
  VocabData v;
  const auto text = [&](std::string_view full_key, std::string& out) -> Result<void> {
    RIDGE_TRY(const std::string_view found, file.get_or<std::string_view>(full_key, ""));
    out = found;
    return {};
  };
  RIDGE_CHECK_OK(text("tokenizer.ggml.model", v.model));
  if (v.model.empty()) {
    return fail(ErrorCode::not_found, "no key 'tokenizer.ggml.model': the file holds no vocabulary");
  }
  RIDGE_CHECK_OK(text("tokenizer.ggml.pre", v.pre));
  RIDGE_CHECK_OK(text("general.architecture", v.architecture));
  RIDGE_CHECK_OK(text("general.name", v.model_name));
  RIDGE_CHECK_OK(read_strings(file, "tokens", v.tokens));
  RIDGE_CHECK_OK(read_strings(file, "merges", v.merges));
  if (file.has(key("scores"))) {
    RIDGE_TRY(v.scores, file.get_array<float>(key("scores")));
  }
  if (file.has(key("token_type"))) {
    RIDGE_TRY(v.token_types, file.get_array<int32_t>(key("token_type")));
  }

  struct IdKey {
    std::string_view name;
    std::optional<int64_t> VocabData::*member;
  };
  static constexpr IdKey kIds[] = {
      {"bos_token_id", &VocabData::bos},         {"eos_token_id", &VocabData::eos},
      {"eot_token_id", &VocabData::eot},         {"eom_token_id", &VocabData::eom},
      {"unknown_token_id", &VocabData::unk},     {"seperator_token_id", &VocabData::sep},
      {"padding_token_id", &VocabData::pad},     {"mask_token_id", &VocabData::mask},
      {"fim_pre_token_id", &VocabData::fim_pre}, {"fim_suf_token_id", &VocabData::fim_suf},
      {"fim_mid_token_id", &VocabData::fim_mid}, {"fim_pad_token_id", &VocabData::fim_pad},
      {"fim_rep_token_id", &VocabData::fim_rep}, {"fim_sep_token_id", &VocabData::fim_sep},
  };
  for (const IdKey& id : kIds) {
    RIDGE_TRY(v.*id.member, file.get_optional<int64_t>(key(id.name)));
  }
  struct FlagKey {
    std::string_view name;
    std::optional<bool> VocabData::*member;
  };
  static constexpr FlagKey kFlags[] = {
      {"add_bos_token", &VocabData::add_bos},
      {"add_eos_token", &VocabData::add_eos},
      {"add_sep_token", &VocabData::add_sep},
      {"add_space_prefix", &VocabData::add_space_prefix},
      {"ignore_merges", &VocabData::ignore_merges},
      {"normalizer.lowercase", &VocabData::lowercase},
      {"normalizer.strip_accents", &VocabData::strip_accents},
  };
  for (const FlagKey& flag : kFlags) {
    RIDGE_TRY(v.*flag.member, file.get_optional<bool>(key(flag.name)));
  }
  return v;
}

}  // namespace ridge
