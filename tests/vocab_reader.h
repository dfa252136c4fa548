// Tests only: reads the vocabulary out of a GGUF file that is known to be good (golden/tokenizers), so that the tests
// of text/ do not depend on file/. No checks beyond the end of the file.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "text/vocab.h"

namespace ridge::testing {

class VocabReader {
 public:
  static VocabData read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    VocabReader r;
    r.bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (r.bytes_.substr(0, 4) != "GGUF") throw std::runtime_error(path.string() + ": not a GGUF file");
    r.at_ = 8;
    r.number<uint64_t>();
    const auto n_keys = r.number<uint64_t>();
    for (uint64_t i = 0; i < n_keys; ++i) r.key();
    return std::move(r.vocab_);
  }

 private:
  template <class T>
  T number() {
    if (at_ + sizeof(T) > bytes_.size()) throw std::runtime_error("vocabulary file ends early");
    T v;
    std::memcpy(&v, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return v;
  }
  std::string string() {
    const auto n = number<uint64_t>();
    std::string s = bytes_.substr(at_, n);
    at_ += n;
    return s;
  }
  int64_t integer(uint32_t type) {
    switch (type) {
      case 0:
        return number<uint8_t>();
      case 1:
        return number<int8_t>();
      case 2:
        return number<uint16_t>();
      case 3:
        return number<int16_t>();
      case 4:
        return number<uint32_t>();
      case 5:
        return number<int32_t>();
      case 6:
        return static_cast<int64_t>(number<float>());
      case 7:
        return number<uint8_t>();
      case 10:
        return static_cast<int64_t>(number<uint64_t>());
      case 11:
        return number<int64_t>();
      default:
        return static_cast<int64_t>(number<double>());
    }
  }
  void key() {
    const std::string name = string();
    const auto type = number<uint32_t>();
    if (type == 8) {
      text(name, string());
    } else if (type == 9) {
      const auto element = number<uint32_t>();
      const auto n = number<uint64_t>();
      for (uint64_t i = 0; i < n; ++i) this->element(name, element);
    } else {
      value(name, integer(type));
    }
  }
  void element(const std::string& name, uint32_t type) {
    if (type == 8) {
      std::string s = string();
      if (name == "tokenizer.ggml.tokens") vocab_.tokens.push_back(std::move(s));
      if (name == "tokenizer.ggml.merges") vocab_.merges.push_back(std::move(s));
    } else if (type == 6) {
      const auto f = number<float>();
      if (name == "tokenizer.ggml.scores") vocab_.scores.push_back(f);
    } else {
      const int64_t i = integer(type);
      if (name == "tokenizer.ggml.token_type") vocab_.token_types.push_back(static_cast<int32_t>(i));
    }
  }
  void text(const std::string& name, std::string s) {
    if (name == "tokenizer.ggml.model")
      vocab_.model = std::move(s);
    else if (name == "tokenizer.ggml.pre")
      vocab_.pre = std::move(s);
    else if (name == "general.architecture")
      vocab_.architecture = std::move(s);
    else if (name == "general.name")
      vocab_.model_name = std::move(s);
  }
  void value(const std::string& name, int64_t v) {
    const std::string prefix = "tokenizer.ggml.";
    if (name.substr(0, prefix.size()) != prefix) return;
    const std::string k = name.substr(prefix.size());
    if (k == "bos_token_id")
      vocab_.bos = v;
    else if (k == "eos_token_id")
      vocab_.eos = v;
    else if (k == "eot_token_id")
      vocab_.eot = v;
    else if (k == "eom_token_id")
      vocab_.eom = v;
    else if (k == "unknown_token_id")
      vocab_.unk = v;
    else if (k == "seperator_token_id")
      vocab_.sep = v;
    else if (k == "padding_token_id")
      vocab_.pad = v;
    else if (k == "mask_token_id")
      vocab_.mask = v;
    else if (k == "add_bos_token")
      vocab_.add_bos = v != 0;
    else if (k == "add_eos_token")
      vocab_.add_eos = v != 0;
    else if (k == "add_sep_token")
      vocab_.add_sep = v != 0;
    else if (k == "add_space_prefix")
      vocab_.add_space_prefix = v != 0;
  }

  std::string bytes_;
  size_t at_ = 0;
  VocabData vocab_;
};

}  // namespace ridge::testing
