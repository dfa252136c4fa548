#include "model/binder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "file/meta_value.h"

namespace ridge {
namespace {

std::string join_dims(const TensorView& t) {
  std::string text = "[";
  for (uint32_t i = 0; i < t.n_dims && i < 4; ++i) text += fmt::format("{}{}", i > 0 ? "," : "", t.ne[i]);
  return text + "]";
}

// Trailing dimensions of 1 do not count: some writers add them, some leave them out.
bool same_shape(const TensorView& t, Shape shape) {
  size_t i = 0;
  for (const Dim& d : shape) {
    if (t.ne[i++] != d.n) return false;
  }
  for (; i < 4; ++i) {
    if (t.ne[i] != 1) return false;
  }
  return true;
}

}  // namespace

std::string describe_shape(Shape shape) {
  std::string dims, words;
  for (const Dim& d : shape) {
    dims += fmt::format("{}{}", dims.empty() ? "" : ",", d.n);
    words += fmt::format("{}{}", words.empty() ? "" : " x ", d.what);
  }
  return fmt::format("[{}] ({})", dims, words);
}

MappedCensus::MappedCensus(MappedCensus&& o) noexcept
    : ledger_(std::exchange(o.ledger_, nullptr)), bytes_(std::move(o.bytes_)) {
  o.bytes_.clear();
}

MappedCensus& MappedCensus::operator=(MappedCensus&& o) noexcept {
  std::swap(ledger_, o.ledger_);
  std::swap(bytes_, o.bytes_);
  return *this;
}

MappedCensus::~MappedCensus() {
  for (const auto& [format, n_bytes] : bytes_) ledger_->remove(MemoryOwner::weights_mapped, info(format).name, n_bytes);
}

void MappedCensus::add(MemoryLedger& ledger, DType format, uint64_t n_bytes) {
  ledger_ = &ledger;
  ledger.add(MemoryOwner::weights_mapped, info(format).name, n_bytes);
  for (auto& [known, sum] : bytes_) {
    if (known == format) {
      sum += n_bytes;
      return;
    }
  }
  bytes_.emplace_back(format, n_bytes);
}

void Binder::bind(Weight& field, const TensorView& tensor, Shape shape) {
  used_.insert(tensor.name);
  if (!same_shape(tensor, shape)) {
    return refuse({ErrorCode::bad_file, fmt::format("tensor '{}': shape {}, expected {}", printable(tensor.name),
                                                    join_dims(tensor), describe_shape(shape))});
  }
  if (!info(tensor.dtype).is_float_like) {
    return refuse({ErrorCode::unsupported,
                   fmt::format("tensor '{}': type {}, expected a type of real numbers, which a weight has",
                               printable(tensor.name), info(tensor.dtype).name)});
  }
  field.host = tensor;
  field.in = tensor.ne[0];
  field.out = tensor.ne[1];
  field.n_mats = tensor.ne[2] * tensor.ne[3];
  fields_.emplace_back(&field, tensor.name);
}

void Binder::need(Weight& field, std::string_view name, Shape shape) {
  if (error_) return;
  const TensorView* tensor = file_.find_tensor(name);
  if (tensor == nullptr) {
    return refuse(
        {ErrorCode::not_found, fmt::format("tensor '{}' is missing, expected shape {}", name, describe_shape(shape))});
  }
  bind(field, *tensor, shape);
}

bool Binder::maybe(Weight& field, std::string_view name, Shape shape) {
  if (error_) return false;
  const TensorView* tensor = file_.find_tensor(name);
  if (tensor == nullptr) return false;
  bind(field, *tensor, shape);
  return !error_;
}

void Binder::need_table(Weight& field, std::string_view name, Shape shape) {
  need(field, name, shape);
  field.table_only = true;
}

std::vector<float> Binder::maybe_factors(std::string_view name, Dim n) {
  std::vector<float> values;
  const TensorView* tensor = error_ ? nullptr : file_.find_tensor(name);
  if (tensor == nullptr) return values;
  used_.insert(tensor->name);
  if (!same_shape(*tensor, {n})) {
    refuse({ErrorCode::bad_file,
            fmt::format("tensor '{}': shape {}, expected {}", name, join_dims(*tensor), describe_shape({n}))});
    return values;
  }
  if (tensor->dtype != DType::f32) {
    refuse({ErrorCode::unsupported, fmt::format("tensor '{}': type {}, expected f32", name, info(tensor->dtype).name)});
    return values;
  }
  values.resize(static_cast<size_t>(n.n));
  std::memcpy(values.data(), tensor->data, values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && values[i] > 0.0f) continue;
    refuse({ErrorCode::bad_file,
            fmt::format("tensor '{}': element {} is {}, expected a finite number above 0", name, i, values[i])});
    values.clear();
  }
  return values;
}

Result<void> Binder::finish(Device* device, MemoryLedger* ledger) {
  if (error_) return tl::unexpected<Error>(*error_);
  std::unordered_set<std::string_view> seen;
  // A router turns a small difference of its input into another expert, so nothing before one may round activations.
  const bool has_experts =
      std::any_of(fields_.begin(), fields_.end(), [](const auto& f) { return f.first->n_mats > 1; });
  for (const auto& [field, name] : fields_) {
    field->exact_activations = has_experts;
    if (device != nullptr) RIDGE_CHECK_OK(device->prepare(*field));
    if (!seen.insert(name).second) {  // a tied head is a second view of the same bytes
      for (BoundWeight& first : weights_) {
        if (first.name == name) first.tied = field;
      }
      continue;
    }
    weights_.push_back({field, name});
    if (ledger != nullptr) census_.add(*ledger, field->dtype(), field->host.n_bytes());
  }
  return {};
}

std::vector<std::string> Binder::unused() const {
  std::vector<std::string> names;
  for (const TensorView& t : file_.tensors()) {
    if (!used_.contains(t.name)) names.push_back(printable(t.name));
  }
  return names;
}

}  // namespace ridge
