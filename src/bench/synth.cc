// Weights are drawn from a normal distribution of deviation 1/sqrt(inputs), so that a product keeps the size of its
// input; norms are one. Encoding billions of numbers would take minutes and show nothing: a pool of encoded units is
// made for each format and width, and a tensor is a random sequence of them. Every block is valid, and memory is read
// as ever.
#include "bench/synth.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numbers>
#include <vector>

#include "base/rng.h"
#include "file/gguf_writer.h"
#include "quant/formats.h"

namespace ridge::bench {
namespace {

constexpr SynthShape kShapes[] = {
    {.name = "tiny",
     .arch = "qwen2",
     .title = "Tiny",
     .size_label = "1M",
     .pre = "qwen2",
     .n_layer = 2,
     .n_embd = 256,
     .n_ff = 512,
     .n_head = 4,
     .n_head_kv = 2,
     .head_dim = 64,
     .n_vocab = 512,
     .n_ctx = 2048,
     .tied = true,
     .qkv_bias = true},
    {.name = "qwen2.5-0.5b",
     .arch = "qwen2",
     .title = "Qwen2.5 0.5B",
     .size_label = "0.5B",
     .pre = "qwen2",
     .n_layer = 24,
     .n_embd = 896,
     .n_ff = 4864,
     .n_head = 14,
     .n_head_kv = 2,
     .head_dim = 64,
     .n_vocab = 151936,
     .n_ctx = 32768,
     .tied = true,
     .qkv_bias = true,
     .rope_base = 1e6f},
    {.name = "qwen2.5-1.5b",
     .arch = "qwen2",
     .title = "Qwen2.5 1.5B",
     .size_label = "1.5B",
     .pre = "qwen2",
     .n_layer = 28,
     .n_embd = 1536,
     .n_ff = 8960,
     .n_head = 12,
     .n_head_kv = 2,
     .head_dim = 128,
     .n_vocab = 151936,
     .n_ctx = 32768,
     .tied = true,
     .qkv_bias = true,
     .rope_base = 1e6f},
    {.name = "qwen2.5-7b",
     .arch = "qwen2",
     .title = "Qwen2.5 7B",
     .size_label = "7B",
     .pre = "qwen2",
     .n_layer = 28,
     .n_embd = 3584,
     .n_ff = 18944,
     .n_head = 28,
     .n_head_kv = 4,
     .head_dim = 128,
     .n_vocab = 152064,
     .n_ctx = 32768,
     .qkv_bias = true,
     .rope_base = 1e6f},
    {.name = "qwen3-4b",
     .arch = "qwen3",
     .title = "Qwen3 4B",
     .size_label = "4B",
     .pre = "qwen2",
     .n_layer = 36,
     .n_embd = 2560,
     .n_ff = 9728,
     .n_head = 32,
     .n_head_kv = 8,
     .head_dim = 128,
     .n_vocab = 151936,
     .n_ctx = 40960,
     .tied = true,
     .qk_norm = true,
     .rope_base = 1e6f},
    {.name = "llama-3.2-1b",
     .arch = "llama",
     .title = "Llama 3.2 1B",
     .size_label = "1B",
     .pre = "llama-bpe",
     .n_layer = 16,
     .n_embd = 2048,
     .n_ff = 8192,
     .n_head = 32,
     .n_head_kv = 8,
     .head_dim = 64,
     .n_vocab = 128256,
     .n_ctx = 131072,
     .tied = true,
     .rope_base = 5e5f,
     .eps = 1e-5f,
     .rope_factor = 32.0f},
    {.name = "llama-3.1-8b",
     .arch = "llama",
     .title = "Llama 3.1 8B",
     .size_label = "8B",
     .pre = "llama-bpe",
     .n_layer = 32,
     .n_embd = 4096,
     .n_ff = 14336,
     .n_head = 32,
     .n_head_kv = 8,
     .head_dim = 128,
     .n_vocab = 128256,
     .n_ctx = 131072,
     .rope_base = 5e5f,
     .eps = 1e-5f,
     .rope_factor = 8.0f},
    {.name = "qwen3-30b-a3b",
     .arch = "qwen3moe",
     .title = "Qwen3 30B A3B",
     .size_label = "30B-A3B",
     .pre = "qwen2",
     .n_layer = 48,
     .n_embd = 2048,
     .n_ff = 6144,
     .n_head = 32,
     .n_head_kv = 4,
     .head_dim = 128,
     .n_vocab = 151936,
     .n_ctx = 40960,
     .qk_norm = true,
     .rope_base = 1e6f,
     .n_expert = 128,
     .n_expert_used = 8,
     .n_ff_expert = 768},
};

constexpr size_t kPoolElems = size_t{1} << 18;
constexpr size_t kChunkBytes = size_t{4} << 20;
constexpr int64_t kUnitElems = 256;  // the largest block; smaller blocks are taken several at a time

double normal(uint64_t seed, uint64_t stream, uint64_t i) {
  // Box and Muller; 1 - u keeps the logarithm finite.
  const double u = 1.0 - random_uniform(seed, stream, i, 0), v = random_uniform(seed, stream, i, 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

class Synth {
 public:
  explicit Synth(const SynthOptions& options) : o_(options), s_(options.shape) {}

  Result<SynthReport> write(const std::filesystem::path& path) {
    list_tensors();
    RIDGE_CHECK_OK(choose_formats());
    for (const TensorView& t : tensors_) {
      report_.n_params += static_cast<uint64_t>(t.name == "rope_freqs.weight" ? 0 : t.n_elems());
      report_.tensor_bytes += t.n_bytes();
    }
    report_.n_tensors = tensors_.size();
    std::error_code ec;
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const auto space = std::filesystem::space(folder, ec);
    if (!ec && space.available < report_.tensor_bytes + kChunkBytes * 16) {
      return fail(ErrorCode::io, "'{}': the file takes {} MB and {} MB are free there", path.string(),
                  report_.tensor_bytes / 1000000, space.available / 1000000);
    }
    add_metadata();
    for (const TensorView& t : tensors_) writer_.add_tensor(t);
    RIDGE_TRY(GgufStream out, writer_.start(path));
    for (const TensorView& t : tensors_) RIDGE_CHECK_OK(give(t, out));
    RIDGE_CHECK_OK(out.finish());
    return report_;
  }

 private:
  void tensor(const std::string& name, int64_t in, int64_t out = 1, int64_t n = 1) {
    const uint32_t n_dims = n > 1 ? 3 : out > 1 ? 2 : 1;
    // As a converter leaves them: matrices in half precision, the rest and the router whole.
    const bool half = n_dims > 1 && name.find("ffn_gate_inp") == std::string::npos;
    tensors_.push_back({.name = names_.emplace_back(name),
                        .dtype = half ? DType::f16 : DType::f32,
                        .n_dims = n_dims,
                        .ne = {in, out, n, 1},
                        .data = nullptr});
  }

  void list_tensors() {
    const int64_t q = int64_t{s_.n_head} * s_.head_dim, kv = int64_t{s_.n_head_kv} * s_.head_dim;
    tensor("token_embd.weight", s_.n_embd, s_.n_vocab);
    if (s_.rope_factor > 0) tensor("rope_freqs.weight", s_.head_dim / 2);
    for (int i = 0; i < s_.n_layer; ++i) {
      const std::string b = fmt::format("blk.{}.", i);
      tensor(b + "attn_norm.weight", s_.n_embd);
      tensor(b + "attn_q.weight", s_.n_embd, q), tensor(b + "attn_k.weight", s_.n_embd, kv);
      tensor(b + "attn_v.weight", s_.n_embd, kv), tensor(b + "attn_output.weight", q, s_.n_embd);
      if (s_.qkv_bias) tensor(b + "attn_q.bias", q), tensor(b + "attn_k.bias", kv), tensor(b + "attn_v.bias", kv);
      if (s_.qk_norm) tensor(b + "attn_q_norm.weight", s_.head_dim), tensor(b + "attn_k_norm.weight", s_.head_dim);
      tensor(b + "ffn_norm.weight", s_.n_embd);
      if (s_.n_expert > 0) {
        tensor(b + "ffn_gate_inp.weight", s_.n_embd, s_.n_expert);
        tensor(b + "ffn_gate_exps.weight", s_.n_embd, s_.n_ff_expert, s_.n_expert);
        tensor(b + "ffn_up_exps.weight", s_.n_embd, s_.n_ff_expert, s_.n_expert);
        tensor(b + "ffn_down_exps.weight", s_.n_ff_expert, s_.n_embd, s_.n_expert);
      } else {
        tensor(b + "ffn_gate.weight", s_.n_embd, s_.n_ff), tensor(b + "ffn_up.weight", s_.n_embd, s_.n_ff);
        tensor(b + "ffn_down.weight", s_.n_ff, s_.n_embd);
      }
    }
    tensor("output_norm.weight", s_.n_embd);
    if (!s_.tied) tensor("output.weight", s_.n_embd, s_.n_vocab);
  }

  Result<void> choose_formats() {
    std::vector<quant::MixTensor> list;
    for (const TensorView& t : tensors_)
      list.push_back({.name = t.name, .type = t.dtype, .n_dims = t.n_dims, .ne = t.ne});
    const quant::MixModel model{.arch = s_.arch,
                                .n_layers = s_.n_layer,
                                .n_experts = s_.n_expert,
                                .n_gqa = s_.n_head / s_.n_head_kv,
                                .is_70b = s_.n_layer == 80 && s_.n_head != s_.n_head_kv,
                                .has_imatrix = false};
    RIDGE_TRY(const auto choices, quant::choose_mix(*o_.target, model, list, {}));
    for (size_t i = 0; i < tensors_.size(); ++i) {
      tensors_[i].dtype = choices[i].type;
      report_.n_fallbacks += choices[i].is_fallback ? 1 : 0;
    }
    return {};
  }

  std::string_view keep(std::string text) { return names_.emplace_back(std::move(text)); }

  void add_metadata() {
    GgufWriter& w = writer_;
    const auto key = [this](std::string_view suffix) { return keep(fmt::format("{}.{}", s_.arch, suffix)); };
    const auto number = [&](std::string_view suffix, int value) { w.add(key(suffix), static_cast<uint32_t>(value)); };
    w.add("general.architecture", s_.arch);
    w.add("general.name", keep(fmt::format("{} (synthetic weights, speed only)", s_.title)));
    w.add("general.size_label", s_.size_label);
    w.add("general.file_type", o_.target->file_type);
    w.add("general.quantization_version", uint32_t{2});
    w.add("ridge.synthetic", true);
    w.add("ridge.synthetic.seed", o_.seed);
    number("block_count", s_.n_layer), number("context_length", s_.n_ctx), number("embedding_length", s_.n_embd);
    number("feed_forward_length", s_.n_ff);
    number("attention.head_count", s_.n_head), number("attention.head_count_kv", s_.n_head_kv);
    number("attention.key_length", s_.head_dim), number("attention.value_length", s_.head_dim);
    number("rope.dimension_count", s_.head_dim);
    w.add(key("rope.freq_base"), s_.rope_base);
    w.add(key("attention.layer_norm_rms_epsilon"), s_.eps);
    if (s_.n_expert > 0) {
      number("expert_count", s_.n_expert), number("expert_used_count", s_.n_expert_used);
      number("expert_feed_forward_length", s_.n_ff_expert);
    }
    add_vocabulary();
  }

  // The 256 bytes, one end token, and names up to the model's size: any text can be written, any id can be shown.
  void add_vocabulary() {
    const auto n = static_cast<size_t>(s_.n_vocab);
    for (size_t i = 0; i < n; ++i) {
      words_.push_back(i < 256 ? byte_symbol(static_cast<int>(i)) : i + 1 == n ? "<|end|>" : fmt::format("[{}]", i));
      kinds_.push_back(i + 1 == n ? 3 : 1);  // 3: control
    }
    writer_.add("tokenizer.ggml.model", std::string_view("gpt2"));
    writer_.add("tokenizer.ggml.pre", s_.pre);
    writer_.add("tokenizer.ggml.tokens", StringArray(words_.begin(), words_.end()));
    writer_.add("tokenizer.ggml.token_type", PackedArray<int32_t>(std::as_bytes(std::span(kinds_))));
    writer_.add("tokenizer.ggml.merges", StringArray{});
    writer_.add("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(n - 1));
    writer_.add("tokenizer.ggml.add_bos_token", false);
  }

  // GPT-2's table: printable Latin-1 stands for itself, the other bytes for U+0100 and up, in order.
  static std::string byte_symbol(int byte) {
    const auto printable = [](int b) { return (b > 32 && b < 127) || (b > 160 && b != 173); };
    int code = byte;
    if (!printable(byte)) {
      code = 256;
      for (int b = 0; b < byte; ++b) code += printable(b) ? 0 : 1;
    }
    if (code < 128) return std::string(1, static_cast<char>(code));
    return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
  }

  Result<void> give(const TensorView& t, GgufStream& out) {
    const uint64_t stream = stream_++;
    if (t.n_dims == 1) return give_vector(t, out, stream);
    const int64_t unit = t.n_elems() % kUnitElems == 0 ? kUnitElems : info(t.dtype).block_elems;
    RIDGE_TRY(const std::vector<std::byte>* pool, pool_of(t.dtype, t.ne[0]));
    const size_t unit_bytes = row_bytes(t.dtype, unit);
    const uint64_t n_pool = pool->size() / unit_bytes;
    const size_t n_chunk = kChunkBytes / unit_bytes;
    const auto n_units = static_cast<size_t>(t.n_elems() / unit);
    chunk_.resize(n_chunk * unit_bytes);
    for (size_t at = 0; at < n_units;) {
      const size_t n = std::min(n_chunk, n_units - at);
      for (size_t i = 0; i < n; ++i, ++at) {
        const uint64_t pick = random_bits(o_.seed, stream, at) % n_pool;
        std::copy_n(pool->data() + pick * unit_bytes, unit_bytes, chunk_.data() + i * unit_bytes);
      }
      RIDGE_CHECK_OK(out.write(std::span(chunk_).first(n * unit_bytes)));
      done_bytes_ += n * unit_bytes;
      if (o_.on_progress) o_.on_progress(done_bytes_, report_.tensor_bytes);
    }
    return {};
  }

  Result<void> give_vector(const TensorView& t, GgufStream& out, uint64_t stream) {
    std::vector<float> values(static_cast<size_t>(t.n_elems()), 1.0f);
    if (t.name == "rope_freqs.weight") {
      for (size_t i = 0; i < values.size(); ++i) values[i] = rope_scale(static_cast<int>(i));
    } else if (t.name.ends_with(".bias")) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(0.02 * normal(o_.seed, stream, i));
    }
    std::vector<std::byte> bytes(t.n_bytes());
    RIDGE_CHECK_OK(quant::encode_row(t.dtype, values.data(), bytes.data(), t.n_elems()));
    done_bytes_ += bytes.size();
    return out.write(bytes);
  }

  // Llama 3: short wavelengths stay, long ones are divided by the factor, between them it is blended. Low and high
  // factors 1 and 4, 8192 positions of first training.
  float rope_scale(int i) const {
    const double inv = std::pow(static_cast<double>(s_.rope_base), -2.0 * i / s_.head_dim);
    const double turns = 8192.0 * inv / (2.0 * std::numbers::pi);
    if (turns > 4.0) return 1.0f;
    if (turns < 1.0) return s_.rope_factor;
    const double blend = (turns - 1.0) / (4.0 - 1.0);
    return static_cast<float>(1.0 / ((1.0 - blend) / static_cast<double>(s_.rope_factor) + blend));
  }

  Result<const std::vector<std::byte>*> pool_of(DType type, int64_t n_in) {
    const auto found = pools_.find({type, n_in});
    if (found != pools_.end()) return &found->second;
    std::vector<float> values(kPoolElems);
    const double deviation = 1.0 / std::sqrt(static_cast<double>(n_in));
    const uint64_t stream = 1000000 + pools_.size();
    for (size_t i = 0; i < kPoolElems; ++i) values[i] = static_cast<float>(deviation * normal(o_.seed, stream, i));
    std::vector<std::byte> bytes(row_bytes(type, static_cast<int64_t>(kPoolElems)));
    RIDGE_CHECK_OK(quant::encode_row(type, values.data(), bytes.data(), static_cast<int64_t>(kPoolElems)));
    return &pools_.emplace(std::pair{type, n_in}, std::move(bytes)).first->second;
  }

  const SynthOptions& o_;
  const SynthShape& s_;
  SynthReport report_;
  GgufWriter writer_;
  std::vector<TensorView> tensors_;
  std::deque<std::string> names_, words_;  // what the writer's views point to
  std::vector<int32_t> kinds_;
  std::map<std::pair<DType, int64_t>, std::vector<std::byte>> pools_;
  std::vector<std::byte> chunk_;
  uint64_t stream_ = 0, done_bytes_ = 0;
};

}  // namespace

std::span<const SynthShape> synth_shapes() {
  return kShapes;
}

Result<SynthShape> find_shape(std::string_view name) {
  std::string names;
  for (const SynthShape& s : kShapes) {
    if (s.name == name) return s;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", s.name);
  }
  return fail(ErrorCode::invalid_argument, "no shapes of '{}' are known; known are {}", name, names);
}

Result<SynthReport> write_synthetic(const std::filesystem::path& path, const SynthOptions& options) {
  return Synth(options).write(path);
}

}  // namespace ridge::bench
