// The table of pre-tokenisers: which names there are, which stages each has, and what else the name implies. The names
// and expressions are those of the published tokenizer.json files and of the GGUF key `tokenizer.ggml.pre`; form C
// where the original's normaliser says NFC.
#include "text/pretokenizer.h"

#include <utility>

namespace ridge::text {
namespace {

constexpr SplitStage kGpt2[] = {split_gpt2};
constexpr SplitStage kLlama3[] = {split_llama3};
constexpr SplitStage kQwen2[] = {split_qwen2};
constexpr SplitStage kQwen35[] = {split_qwen35};
constexpr SplitStage kJais2[] = {split_jais2};
constexpr SplitStage kMiniCpm5[] = {split_numbers_by_3, split_minicpm5};
constexpr SplitStage kSeedCoder[] = {split_seed_coder};
constexpr SplitStage kUfakzeka[] = {split_ufakzeka};
constexpr SplitStage kExaoneMoe[] = {split_exaone_moe};
constexpr SplitStage kGpt4o[] = {split_gpt4o};
constexpr SplitStage kTekken[] = {split_tekken};
constexpr SplitStage kKimiK2[] = {split_kimi_k2};
constexpr SplitStage kTinyAya[] = {split_digits_before_boundary, split_gpt4o};
constexpr SplitStage kYoutu[] = {split_youtu_scripts, split_youtu_words};
constexpr SplitStage kLaguna[] = {split_newline_runs, split_qwen2};
constexpr SplitStage kDeepseekLlm[] = {split_each_newline,   split_deepseek_letters, split_deepseek_punctuation,
                                       split_trailing_space, split_deepseek_cjk,     split_number_runs};
constexpr SplitStage kDeepseekCoder[] = {split_each_newline, split_letters, split_punctuation, split_deepseek_cjk,
                                         split_each_number};
constexpr SplitStage kDeepseek3[] = {split_numbers_by_3, split_deepseek3_cjk, split_deepseek3_words};
constexpr SplitStage kSpark[] = {split_numbers_by_3, split_deepseek3_cjk, split_spark_words, split_each_number};
constexpr SplitStage kAfmoe[] = {split_numbers_from_right, split_afmoe_scripts, split_deepseek3_words};
constexpr SplitStage kFalcon[] = {split_falcon_punctuation, split_gpt2, split_ascii_digits_by_3};
constexpr SplitStage kDefault[] = {split_default_punctuation, split_gpt2, split_number_runs, split_ascii_digits_by_3};
constexpr SplitStage kStarcoder[] = {split_each_number, split_gpt2};
constexpr SplitStage kBloom[] = {split_bloom};
constexpr SplitStage kViking[] = {split_bloom, split_each_number};
constexpr SplitStage kSuperBpe[] = {split_number_runs, split_digits_from_right};
constexpr SplitStage kChameleon[] = {split_sentinels,   split_image_tokens,     split_chameleon_space,
                                     split_each_number, split_each_punctuation, split_gpt2};
constexpr SplitStage kGemma4[] = {split_newline_runs};
constexpr SplitStage kWhitespace[] = {split_non_space};

constexpr PreTokenizer kTable[] = {
    {.name = "default", .stages = kDefault},

    {.name = "llama3", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "llama-bpe", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "jina-v5-nano", .stages = kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "dbrx", .stages = kLlama3},
    {.name = "smaug-bpe", .stages = kLlama3},
    {.name = "chatglm-bpe", .stages = kLlama3},
    {.name = "glm4", .stages = kLlama3},
    {.name = "jais-2", .stages = kJais2},
    {.name = "minicpm5", .stages = kMiniCpm5, .ignore_merges = true},

    {.name = "qwen2", .stages = kQwen2, .nfc = true},
    {.name = "deepseek-r1-qwen", .stages = kQwen2, .nfc = true},
    {.name = "kormo", .stages = kQwen2},
    {.name = "f2llmv2", .stages = kQwen2, .nfc = true},
    {.name = "megrez", .stages = kQwen2},
    {.name = "stablelm2", .stages = kQwen2, .nfc = true},
    {.name = "hunyuan", .stages = kQwen2},
    {.name = "solar-open", .stages = kQwen2},
    {.name = "grok-2", .stages = kQwen2},
    {.name = "qwen35", .stages = kQwen35, .nfc = true},
    {.name = "bailingmoe", .stages = kQwen2},
    {.name = "bailingmoe2", .stages = kQwen2},
    {.name = "llada-moe", .stages = kQwen2},
    {.name = "seed-coder", .stages = kSeedCoder},
    {.name = "ufakzeka", .stages = kUfakzeka},
    {.name = "laguna", .stages = kLaguna},
    {.name = "exaone-moe", .stages = kExaoneMoe},

    {.name = "gpt-2", .stages = kGpt2},
    {.name = "phi-2", .stages = kGpt2},
    {.name = "jina-es", .stages = kGpt2},
    {.name = "jina-de", .stages = kGpt2},
    {.name = "jina-v2-es", .stages = kGpt2},
    {.name = "jina-v2-de", .stages = kGpt2},
    {.name = "jina-v1-en", .stages = kGpt2},
    {.name = "jina-v2-code", .stages = kGpt2},
    {.name = "roberta-bpe", .stages = kGpt2},
    {.name = "gigachat", .stages = kGpt2},
    {.name = "a.x-4.0", .stages = kGpt2},
    {.name = "mellum", .stages = kGpt2},
    {.name = "modern-bert", .stages = kGpt2},
    {.name = "exaone4", .stages = kGpt2},
    {.name = "mpt", .stages = kGpt2, .nfc = true},
    {.name = "olmo", .stages = kGpt2, .nfc = true},
    {.name = "jais", .stages = kGpt2},
    {.name = "trillion", .stages = kGpt2},
    {.name = "granite-docling", .stages = kGpt2},

    {.name = "starcoder", .stages = kStarcoder},
    {.name = "refact", .stages = kStarcoder},
    {.name = "command-r", .stages = kStarcoder, .nfc = true},
    {.name = "smollm", .stages = kStarcoder},
    {.name = "codeshell", .stages = kStarcoder},
    {.name = "exaone", .stages = kStarcoder},
    {.name = "minerva-7b", .stages = kStarcoder},
    {.name = "mellum2", .stages = kStarcoder},

    {.name = "falcon", .stages = kFalcon},
    {.name = "deepseek-llm", .stages = kDeepseekLlm},
    {.name = "deepseek-coder", .stages = kDeepseekCoder},
    {.name = "deepseek-v3", .stages = kDeepseek3},
    {.name = "hunyuan-dense", .stages = kDeepseek3},
    {.name = "hy_v4", .stages = kDeepseek3},
    {.name = "joyai-llm", .stages = kDeepseek3},
    {.name = "spark2_5", .stages = kSpark},
    {.name = "afmoe", .stages = kAfmoe},
    {.name = "youtu", .stages = kYoutu, .ignore_merges = true},

    {.name = "gpt-4o", .stages = kGpt4o},
    {.name = "llama4", .stages = kGpt4o},
    {.name = "kanana2", .stages = kGpt4o},
    {.name = "talkie", .stages = kGpt4o},
    {.name = "minimax-m2", .stages = kGpt4o},
    {.name = "granite-embed-multi-97m", .stages = kGpt4o, .ignore_merges = true},
    {.name = "tekken", .stages = kTekken, .ignore_merges = true, .add_bos = true},
    {.name = "tiny_aya", .stages = kTinyAya},
    {.name = "cohere2moe", .stages = kTinyAya},
    {.name = "kimi-k2", .stages = kKimiK2},

    {.name = "bloom", .stages = kBloom},
    {.name = "poro-chat", .stages = kBloom},
    {.name = "gpt3-finnish", .stages = kBloom},
    {.name = "viking", .stages = kViking},
    {.name = "superbpe", .stages = kSuperBpe},
    {.name = "chameleon", .stages = kChameleon, .add_bos = true},

    {.name = "gemma4",
     .stages = kGemma4,
     .byte_level = false,
     .escape_spaces = true,
     .newline_words = true,
     .add_bos = true},
    {.name = "granite-embed-multi-311m",
     .stages = kGemma4,
     .byte_level = false,
     .escape_spaces = true,
     .newline_words = true,
     .add_bos = true},
    {.name = "sarvam-moe", .stages = kGemma4, .byte_level = false, .escape_spaces = true},
    {.name = "whitespace", .stages = kWhitespace, .byte_level = false},
};

}  // namespace

std::span<const PreTokenizer> pretokenizers() {
  return kTable;
}

Result<const PreTokenizer*> find_pretokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  std::string known;
  for (const PreTokenizer& pre : kTable) {
    if (pre.name == name) return &pre;
    if (!known.empty()) known += ", ";
    known += pre.name;
  }
  return fail(
      ErrorCode::unsupported,
      "tokenizer.ggml.pre: '{}' is not a pre-tokeniser this build knows; it would cut words wrongly and give wrong "
      "ids. Known: {}",
      name.substr(0, 80), known);
}

void split_words(const PreTokenizer& pre, std::string_view text, std::vector<uint32_t>& ends,
                 std::vector<uint32_t>& spare) {
  ends.clear();
  if (text.empty()) return;
  SplitInput in{text.data(), text.data(), text.data() + text.size(), &char_table()};
  pre.stages[0](in, ends);
  for (const SplitStage stage : pre.stages.subspan(1)) {
    std::swap(ends, spare);
    ends.clear();
    in.begin = in.base;
    for (const uint32_t end : spare) {
      in.end = in.base + end;
      stage(in, ends);
      in.begin = in.end;
    }
  }
}

}  // namespace ridge::text
