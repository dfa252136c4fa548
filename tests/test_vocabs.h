// Tests and fuzz targets: small vocabularies of each kind, made here, that know "the cat sat on the mat".
#pragma once

#include <string>
#include <vector>

#include "base/utf8.h"
#include "text/vocab.h"

namespace ridge::testing {

// GPT-2's spelling of a byte.
inline std::string alphabet_char(int byte) {
  const auto printable = [](int b) { return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE; };
  char32_t code = static_cast<char32_t>(byte);
  if (!printable(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += !printable(b);
  }
  std::string s;
  utf8_append(s, code);
  return s;
}

inline std::string alphabet(std::string_view bytes) {
  std::string s;
  for (const char c : bytes) s += alphabet_char(static_cast<uint8_t>(c));
  return s;
}

inline VocabData byte_level_vocab(const std::string& pre = "qwen2") {
  VocabData v;
  v.model = "gpt2";
  v.pre = pre;
  for (int b = 0; b < 256; ++b) v.tokens.push_back(alphabet_char(b));
  const std::pair<std::string_view, std::string_view> merges[] = {
      {"t", "h"},       {"th", "e"},          {" ", "the"},         {"a", "t"},        {"c", "at"},
      {" ", "cat"},     {"s", "at"},          {" ", "s"},           {" s", "at"},      {"m", "at"},
      {" ", "m"},       {"a", "a"},           {"aa", "aa"},         {" ", " "},        {"  ", "  "},
      {"\n", "\n"},     {"\xE4", "\xB8"},     {"\xE4\xB8", "\xAD"}, {" ", "\xE4\xB8"}, {"\xE4\xB8\xAD", "\xE6"},
      {"\xCC", "\x81"}, {"\xE6\x96", "\x87"}, {"\xE6", "\x96"}};
  for (const auto& [left, right] : merges) {
    v.merges.push_back(alphabet(left) + " " + alphabet(right));
    v.tokens.push_back(alphabet(std::string(left) + std::string(right)));
  }
  v.tokens.push_back("<|endoftext|>");
  v.token_types.assign(v.tokens.size(), 1);
  v.token_types.back() = 3;
  v.eos = static_cast<int64_t>(v.tokens.size()) - 1;
  return v;
}

inline void add_byte_tokens(VocabData& v) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int b = 0; b < 256; ++b) {
    v.tokens.push_back(std::string("<0x") + kHex[b >> 4] + kHex[b & 15] + ">");
    v.token_types.push_back(6);
  }
}

inline VocabData spm_vocab() {
  VocabData v;
  v.model = "llama";
  v.tokens = {"<unk>", "<s>", "</s>"};
  v.token_types = {2, 3, 3};
  add_byte_tokens(v);
  for (const char* text :
       {"▁the", "▁cat", "▁sat", "▁t", "he", "th", "at", "▁c", "▁s", "▁m", "▁mat", "▁▁", "▁▁▁▁", "aa",      "aaaa",
        "中文", "▁",    "t",    "h",  "e",  "a",  "c",  "s",  "m",  "o",  "n",    "中", "文",   "\xCC\x81"}) {
    v.tokens.emplace_back(text);
    v.token_types.push_back(1);
  }
  for (size_t i = 0; i < v.tokens.size(); ++i) v.scores.push_back(-static_cast<float>(i));
  v.add_bos = true;
  return v;
}

inline VocabData gemma_vocab() {
  VocabData v;
  v.model = "gemma4";
  v.tokens = {"<pad>", "<eos>", "<bos>", "<unk>"};
  v.token_types = {3, 3, 3, 3};
  add_byte_tokens(v);
  for (const char* text : {"▁",      "t",    "h",    "e",        "a",
                           "c",      "s",    "m",    "\n",       "中",
                           "文",     "th",   "the",  "▁the",     "at",
                           "cat",    "▁cat", "aa",   "aaaa",     "\n\n",
                           "\n\n\n", "▁▁",   "中文", "\xCC\x81", "\xCC\x81\xCC\x81"}) {
    v.tokens.emplace_back(text);
    v.token_types.push_back(1);
  }
  v.merges = {"t h", "th e",  "▁ the", "a t", "c at",  "▁ cat",
              "a a", "aa aa", "\n \n", "▁ ▁", "中 文", "\xCC\x81 \xCC\x81"};
  v.tokens.emplace_back("<|channel>");
  v.token_types.push_back(4);
  v.bos = 2, v.eos = 1, v.unk = 3, v.pad = 0;
  return v;
}

inline VocabData wordpiece_vocab() {
  VocabData v;
  v.model = "bert";
  v.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁the", "▁cat", "s", "▁a",
              "at",    "▁,",    "▁!",    "▁中",   "▁x1",  "a",    "t", "▁aaaa"};
  v.token_types.assign(v.tokens.size(), 1);
  for (size_t i = 0; i < 4; ++i) v.token_types[i] = 3;
  v.pad = 0, v.unk = 1, v.bos = 2, v.sep = 3;
  return v;
}

}  // namespace ridge::testing
