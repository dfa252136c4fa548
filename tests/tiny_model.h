// A llama model of a few kilobytes with random weights and a byte vocabulary, written to a file of its own: for tests
// of mechanics that need a model and must not need reference data.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "file/gguf_writer.h"

namespace ridge::testing {

struct TinyModelOptions {
  int n_ctx = 256;
  bool damaged = false;  // one weight is NaN
  std::string chat_template =
      "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}[assistant] {% "
      "endif %}";
};

// Deleted with the object.
class TinyModel {
 public:
  explicit TinyModel(const TinyModelOptions& options = {}) {
    static int counter = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("ridge-tiny-" + std::to_string(getpid()) + "-" + std::to_string(counter++) + ".gguf");
    write(options);
  }
  ~TinyModel() {
    std::error_code ec;
    std::filesystem::remove(path_, ec);
  }
  TinyModel(const TinyModel&) = delete;
  TinyModel& operator=(const TinyModel&) = delete;
  std::string path() const { return path_.string(); }

 private:
  static constexpr int kEmbd = 32, kFf = 48, kHeads = 2, kKvHeads = 1, kLayers = 2;

  void write(const TinyModelOptions& o) {
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
    std::vector<int32_t> types = {2, 3, 3};
    for (int i = 0; i < 256; ++i) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", i);
      tokens.emplace_back(name), types.push_back(6);
    }
    for (int c = 'a'; c <= 'z'; ++c) tokens.emplace_back(1, static_cast<char>(c)), types.push_back(1);
    tokens.emplace_back("\xE2\x96\x81"), types.push_back(1);
    const auto n_vocab = static_cast<int64_t>(tokens.size());
    const std::vector<float> scores(tokens.size(), 0.0f);
    const StringArray views(tokens.begin(), tokens.end());

    GgufWriter w;
    w.add("general.architecture", std::string_view("llama"));
    w.add("general.name", std::string_view("tiny test model"));
    w.add("llama.context_length", static_cast<uint32_t>(o.n_ctx));
    w.add("llama.embedding_length", uint32_t{kEmbd});
    w.add("llama.block_count", uint32_t{kLayers});
    w.add("llama.feed_forward_length", uint32_t{kFf});
    w.add("llama.attention.head_count", uint32_t{kHeads});
    w.add("llama.attention.head_count_kv", uint32_t{kKvHeads});
    w.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    w.add("tokenizer.ggml.model", std::string_view("llama"));
    w.add("tokenizer.ggml.tokens", views);
    w.add("tokenizer.ggml.scores", PackedArray<float>(std::as_bytes(std::span(scores))));
    w.add("tokenizer.ggml.token_type", PackedArray<int32_t>(std::as_bytes(std::span(types))));
    w.add("tokenizer.ggml.bos_token_id", uint32_t{1});
    w.add("tokenizer.ggml.eos_token_id", uint32_t{2});
    if (!o.chat_template.empty()) w.add("tokenizer.chat_template", std::string_view(o.chat_template));

    constexpr int kHeadDim = kEmbd / kHeads, kKv = kKvHeads * kHeadDim;
    add(w, "token_embd.weight", kEmbd, n_vocab);
    for (int l = 0; l < kLayers; ++l) {
      const std::string b = "blk." + std::to_string(l) + ".";
      add(w, b + "attn_norm.weight", kEmbd, 1), add(w, b + "ffn_norm.weight", kEmbd, 1);
      add(w, b + "attn_q.weight", kEmbd, kEmbd), add(w, b + "attn_k.weight", kEmbd, kKv),
          add(w, b + "attn_v.weight", kEmbd, kKv);
      add(w, b + "attn_output.weight", kEmbd, kEmbd);
      add(w, b + "ffn_gate.weight", kEmbd, kFf), add(w, b + "ffn_up.weight", kEmbd, kFf),
          add(w, b + "ffn_down.weight", kFf, kEmbd);
    }
    add(w, "output_norm.weight", kEmbd, 1);
    if (o.damaged) data_.back()[3] = NAN;
    add(w, "output.weight", kEmbd, n_vocab);
    const auto done = w.write(path_);
    ASSERT_TRUE(done) << done.error().message;
  }

  void add(GgufWriter& w, const std::string& name, int64_t in, int64_t out) {
    std::normal_distribution<float> normal(0.0f, out == 1 ? 0.1f : 0.4f);
    std::vector<float>& values = data_.emplace_back(static_cast<size_t>(in * out));
    for (float& x : values) x = normal(random_) + (out == 1 ? 1.0f : 0.0f);
    TensorView t{.name = names_.emplace_back(name),
                 .dtype = DType::f32,
                 .n_dims = out == 1 ? 1u : 2u,
                 .ne = {in, out, 1, 1},
                 .data = reinterpret_cast<const std::byte*>(values.data())};
    w.add_tensor(t);
  }

  std::filesystem::path path_;
  std::mt19937 random_{5};
  std::deque<std::string> names_;
  std::deque<std::vector<float>> data_;
};

}  // namespace ridge::testing
