// Sources of the keys that are written: llama.cpp, src/llama-quant.cpp.
#include "quality/quantise.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "file/gguf_writer.h"
#include "quality/tensor_encoder.h"
#include "quant/formats.h"

namespace ridge::quality {
namespace {

constexpr uint32_t kQuantisationVersion = 2;  // general.quantization_version: ggml's, since the blocks of May 2023

bool is_plain(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

// The facts that the mix asks for; what a file leaves out has the value that changes nothing.
Result<quant::MixModel> facts_of(const GgufFile& file, bool has_imatrix) {
  quant::MixModel m;
  RIDGE_TRY(m.arch, file.get_string("general.architecture"));
  const std::string prefix = std::string(m.arch) + ".";
  RIDGE_TRY(const auto layers, file.get_or<uint32_t>(prefix + "block_count", 0));
  RIDGE_TRY(const auto experts, file.get_or<uint32_t>(prefix + "expert_count", 0));
  m.n_layers = static_cast<int>(std::min(layers, 65536u));
  m.n_experts = static_cast<int>(std::min(experts, 65536u));
  const auto heads = [&](std::string_view key) -> uint32_t {  // per layer in some models: the first layer's then
    const auto all = file.get_per_layer<uint32_t>(prefix + std::string(key), std::max(layers, 1u));
    return all && !all->empty() ? (*all)[0] : 0;
  };
  const uint32_t n_head = heads("attention.head_count"), n_kv = heads("attention.head_count_kv");
  if (n_head > 0 && n_kv > 0) m.n_gqa = static_cast<int>(n_head / n_kv);
  m.is_70b = layers == 80 && m.n_gqa > 1 && (m.arch == "llama" || m.arch == "qwen2");
  m.has_imatrix = has_imatrix;
  return m;
}

// Keys that the output has beside the input's, or in place of them.
struct OwnKeys {
  std::vector<MetaEntry> entries;
  std::string dataset, file_name;
};

OwnKeys own_keys(const QuantiseOptions& o) {
  OwnKeys k;
  k.entries.push_back({"general.file_type", o.target->file_type});
  k.entries.push_back({"general.quantization_version", kQuantisationVersion});
  return k;
}

void add_imatrix_keys(OwnKeys& k, const QuantiseOptions& o) {
  if (o.imatrix == nullptr) return;
  k.file_name = o.imatrix_path;
  k.entries.push_back({"quantize.imatrix.file", std::string_view(k.file_name)});
  if (!o.imatrix->datasets.empty()) {
    k.dataset = o.imatrix->datasets.front();
    k.entries.push_back({"quantize.imatrix.dataset", std::string_view(k.dataset)});
  }
  k.entries.push_back({"quantize.imatrix.entries_count", static_cast<uint32_t>(o.imatrix->entries.size())});
  k.entries.push_back({"quantize.imatrix.chunks_count", o.imatrix->n_chunks});
}

bool is_split_key(std::string_view key) {
  return key.starts_with("split.");
}

void add_metadata(GgufWriter& w, const GgufFile& file, const OwnKeys& own, bool keep_split) {
  std::vector<bool> used(own.entries.size());
  for (const MetaEntry& e : file.metadata()) {
    if (!keep_split && is_split_key(e.key)) continue;
    const auto mine =
        std::find_if(own.entries.begin(), own.entries.end(), [&](const auto& o) { return o.key == e.key; });
    if (mine != own.entries.end()) used[static_cast<size_t>(mine - own.entries.begin())] = true;
    w.add(e.key, mine != own.entries.end() ? mine->value : e.value);
  }
  for (size_t i = 0; i < own.entries.size(); ++i) {
    if (!used[i]) w.add(own.entries[i].key, own.entries[i].value);
  }
}

// OUT without ".gguf", then the numbers as llama.cpp writes them.
std::string shard_path(std::string path, size_t i, size_t n) {
  if (path.ends_with(".gguf")) path.resize(path.size() - 5);
  return fmt::format("{}-{:05}-of-{:05}.gguf", path, i + 1, n);
}

class Job {
 public:
  Job(const GgufFile& file, const QuantisePlan& plan, const QuantiseOptions& options)
      : file_(file), plan_(plan), options_(options), encoder_(choose_threads(options.n_threads).n_threads) {}

  Result<QuantiseReport> run(const std::string& out_path) {
    const int64_t start = now_ns();
    const size_t n_files = options_.keep_split ? file_.shards().size() : 1;
    size_t row = 0;
    // Every file is finished only after all are whole: a set is never half old and half new for want of space.
    std::vector<GgufStream> streams;
    for (size_t i = 0; i < n_files; ++i) {
      const size_t n_rows = n_files == 1 ? plan_.rows.size() : file_.shards()[i].n_tensors;
      const std::string path = n_files == 1 ? out_path : shard_path(out_path, i, n_files);
      report_.paths.push_back(path);
      RIDGE_TRY(GgufStream stream, start_file(path, i, row, n_rows));
      for (size_t k = 0; k < n_rows; ++k) RIDGE_CHECK_OK(tensor(plan_.rows[row + k], stream));
      row += n_rows;
      streams.push_back(std::move(stream));
    }
    for (GgufStream& s : streams) RIDGE_CHECK_OK(s.finish());
    for (const auto& [type, loss] : losses_) report_.losses.push_back(loss);
    report_.elapsed_ns = now_ns() - start;
    return std::move(report_);
  }

 private:
  Result<GgufStream> start_file(const std::string& path, size_t idx, size_t first, size_t n) const {
    GgufWriter w(file_.version());
    OwnKeys own = own_keys(options_);
    add_imatrix_keys(own, options_);
    if (idx == 0) {
      add_metadata(w, file_, own, options_.keep_split);
    } else {
      w.add("split.no", static_cast<uint16_t>(idx));
      w.add("split.count", static_cast<uint16_t>(file_.shards().size()));
      w.add("split.tensors.count", static_cast<int32_t>(plan_.rows.size()));
    }
    for (size_t i = first; i < first + n; ++i) {
      TensorView t = plan_.rows[i].tensor;
      t.dtype = plan_.rows[i].choice.type;
      t.data = nullptr;
      w.add_tensor(t);
    }
    return w.start(path);
  }

  Result<void> tensor(const QuantisePlanRow& row, GgufStream& out) {
    const TensorView& t = row.tensor;
    std::vector<float> importance;
    if (options_.imatrix != nullptr && !row.choice.is_kept && !is_plain(row.choice.type)) {
      RIDGE_TRY(importance, options_.imatrix->importance(t.name, t.ne[0], t.ne[2] * t.ne[3]));
      report_.n_without_importance += importance.empty() ? 1 : 0;
    }
    TypeLoss& loss = losses_[row.choice.type];
    loss.type = row.choice.type;
    const uint64_t before = n_done_;
    const auto tell = [&](uint64_t n_bytes) {
      n_done_ = before + n_bytes;
      const double share =
          plan_.n_bytes_in > 0 ? static_cast<double>(n_done_) / static_cast<double>(plan_.n_bytes_in) : 1;
      return !options_.on_progress || options_.on_progress(share, t.name);
    };
    RIDGE_TRY(const TensorLoss lost, encoder_.run(t, row.choice.type, importance, out, tell));
    ++loss.n_tensors;
    loss.n_bytes += row.n_bytes;
    loss.n_weights += t.n_elems();
    loss.square_error += lost.square_error;
    loss.square_sum += lost.square_sum;
    return {};
  }

  const GgufFile& file_;
  const QuantisePlan& plan_;
  const QuantiseOptions& options_;
  TensorEncoder encoder_;
  std::map<DType, TypeLoss> losses_;
  QuantiseReport report_;
  uint64_t n_done_ = 0;
};

}  // namespace

double TypeLoss::rmse() const {
  return n_weights > 0 ? std::sqrt(square_error / static_cast<double>(n_weights)) : 0;
}

double TypeLoss::relative() const {
  return square_sum > 0 ? std::sqrt(square_error / square_sum) : 0;
}

Result<QuantisePlan> plan_quantise(const GgufFile& file, const QuantiseOptions& options) {
  RIDGE_TRY(const quant::MixModel model, facts_of(file, options.imatrix != nullptr));
  std::vector<quant::MixTensor> tensors;
  for (const TensorView& t : file.tensors())
    tensors.push_back({.name = t.name, .type = t.dtype, .n_dims = t.n_dims, .ne = t.ne});
  RIDGE_TRY(const auto choices, choose_mix(*options.target, model, tensors, options.mix));
  QuantisePlan plan;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& t = file.tensors()[i];
    const quant::MixChoice& c = choices[i];
    if (!c.is_kept && c.type != t.dtype && !is_plain(t.dtype) && !options.allow_requantize) {
      return fail(
          ErrorCode::unsupported,
          "tensor '{}' is {} already, and quantising it again adds a second loss; start from an F16, BF16 or F32 "
          "file, or say --allow-requantize",
          t.name, info(t.dtype).name);
    }
    TensorView out = t;
    out.dtype = c.type;
    plan.rows.push_back({.tensor = t, .choice = c, .n_bytes = out.n_bytes()});
    plan.n_bytes_in += t.n_bytes();
    plan.n_bytes_out += out.n_bytes();
    plan.n_weights += t.n_elems();
  }
  return plan;
}

Result<QuantiseReport> quantise_file(const GgufFile& file, const QuantisePlan& plan, const std::string& out_path,
                                     const QuantiseOptions& options) {
  return Job(file, plan, options).run(out_path);
}

}  // namespace ridge::quality
