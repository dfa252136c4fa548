#include "quality/imatrix.h"

#include <cmath>
#include <cstring>
#include <deque>

#include "base/mapped_file.h"
#include "file/cursor.h"
#include "file/gguf.h"
#include "file/gguf_writer.h"

namespace ridge::quality {
namespace {

constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";
constexpr int32_t kMaxDatEntries = 65536, kMaxDatValues = 1 << 26;

Result<void> check_values(std::string_view name, const ImatrixEntry& e) {
  const auto bad = [](float v) { return !std::isfinite(v) || v < 0; };
  for (const auto* list : {&e.sums, &e.counts}) {
    for (const float v : *list) {
      if (bad(v))
        return fail(ErrorCode::bad_file, "'{}': found {}, expected sums and counts from 0", printable(name), v);
    }
  }
  return {};
}

std::vector<float> floats_of(const TensorView& t) {
  std::vector<float> values(static_cast<size_t>(t.n_elems()));
  std::memcpy(values.data(), t.data, values.size() * sizeof(float));
  return values;
}

Result<Imatrix> from_gguf(const GgufFile& file) {
  Imatrix m;
  RIDGE_TRY(m.n_chunks, file.get_or<uint32_t>("imatrix.chunk_count", 0));
  RIDGE_TRY(m.chunk_tokens, file.get_or<uint32_t>("imatrix.chunk_size", 0));
  if (file.has("imatrix.datasets")) {
    RIDGE_TRY(const auto names, file.get_strings("imatrix.datasets"));
    m.datasets.assign(names.begin(), names.end());
  }
  for (const TensorView& t : file.tensors()) {
    if (!t.name.ends_with(kSums)) continue;
    const std::string name(t.name.substr(0, t.name.size() - kSums.size()));
    const TensorView* counts = file.find_tensor(name + std::string(kCounts));
    if (counts == nullptr || t.dtype != DType::f32 || counts->dtype != DType::f32 || counts->n_elems() != t.n_rows()) {
      return fail(ErrorCode::bad_file, "'{}': expected f32, and '{}{}' with a count for each of its {} rows",
                  printable(t.name), printable(name), kCounts, t.n_rows());
    }
    ImatrixEntry e{.n_cols = t.ne[0], .sums = floats_of(t), .counts = floats_of(*counts)};
    RIDGE_CHECK_OK(check_values(name, e));
    m.entries.emplace(name, std::move(e));
  }
  return m;
}

// int32 entries; each: length, name, int32 calls, int32 values, the values (sums, already divided by rows where calls
// counts chunks); then the number of chunks and the name of the text.
Result<Imatrix> from_dat(std::span<const std::byte> bytes) {
  Cursor in(bytes);
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::bad_file, "byte {}: expected {} of an importance matrix (neither GGUF nor .dat)",
                in.position(), what);
  };
  Imatrix m;
  int32_t n_entries = 0;
  if (!in.read(n_entries) || n_entries < 1 || n_entries > kMaxDatEntries) return wrong("1 to 65536 entries");
  for (int32_t i = 0; i < n_entries; ++i) {
    int32_t length = 0, calls = 0, n_values = 0;
    std::string_view name;
    if (!in.read(length) || length < 1 || length > 256 || !in.read_chars(static_cast<uint64_t>(length), name))
      return wrong("a name");
    if (!in.read(calls) || calls < 0 || !in.read(n_values) || n_values < 1 || n_values > kMaxDatValues)
      return wrong("counts");
    PackedArray<float> values;
    if (!in.read_array(static_cast<uint64_t>(n_values), values)) return wrong("values");
    ImatrixEntry e{.n_cols = n_values, .sums = {}, .counts = {static_cast<float>(std::max(calls, 1))}};
    for (size_t k = 0; k < values.size(); ++k) e.sums.push_back(values[k]);
    RIDGE_CHECK_OK(check_values(name, e));
    m.entries.insert_or_assign(std::string(name), std::move(e));
  }
  int32_t n_chunks = 0, length = 0;
  std::string_view dataset;
  if (in.read(n_chunks) && n_chunks > 0) m.n_chunks = static_cast<uint32_t>(n_chunks);
  if (in.read(length) && length > 0 && in.read_chars(static_cast<uint64_t>(length), dataset))
    m.datasets.emplace_back(dataset);
  return m;
}

}  // namespace

Result<Imatrix> Imatrix::parse(std::span<const std::byte> bytes) {
  const auto read = [&]() -> Result<Imatrix> {
    if (bytes.size() < 4 || std::memcmp(bytes.data(), gguf::kMagic.data(), 4) != 0) return from_dat(bytes);
    RIDGE_TRY(const GgufFile parsed, GgufFile::parse(bytes));
    return from_gguf(parsed);
  };
  auto m = read();
  if (m && m->entries.empty())
    return fail(ErrorCode::bad_file, "holds no importance matrix (no tensor's name ends in {})", kSums);
  return m;
}

Result<Imatrix> Imatrix::load(const std::filesystem::path& path) {
  RIDGE_TRY(const MappedFile file, MappedFile::open(path));
  auto m = parse(file.bytes());
  if (!m) return in_context(fmt::format("'{}'", path.string()), std::move(m.error()));
  return m;
}

Result<void> Imatrix::save(const std::filesystem::path& path) const {
  GgufWriter w;
  w.add("general.type", std::string_view("imatrix"));
  w.add("imatrix.datasets", StringArray(datasets.begin(), datasets.end()));
  w.add("imatrix.chunk_count", n_chunks);
  w.add("imatrix.chunk_size", chunk_tokens);
  std::deque<std::string> names;
  const auto add = [&](std::string name, int64_t ne0, int64_t ne1, const std::vector<float>& values) {
    names.push_back(std::move(name));
    w.add_tensor({.name = names.back(),
                  .dtype = DType::f32,
                  .n_dims = 2,
                  .ne = {ne0, ne1, 1, 1},
                  .data = reinterpret_cast<const std::byte*>(values.data())});
  };
  for (const auto& [name, e] : entries) {
    add(name + std::string(kSums), e.n_cols, e.n_experts(), e.sums);
    add(name + std::string(kCounts), 1, e.n_experts(), e.counts);
  }
  return w.write(path);
}

Result<std::vector<float>> Imatrix::importance(std::string_view name, int64_t n_cols, int64_t n_experts) const {
  const auto found = entries.find(name);
  if (found == entries.end()) return std::vector<float>();
  const ImatrixEntry& e = found->second;
  // The .dat form does not say how many experts its values are of.
  const bool is_flat = e.n_experts() == 1 && e.n_cols == n_cols * n_experts;
  if (!is_flat && (e.n_cols != n_cols || e.n_experts() != n_experts)) {
    return fail(ErrorCode::invalid_argument,
                "importance matrix: '{}' has {} x {} values, the tensor {} x {}; it was made for another model", name,
                e.n_cols, e.n_experts(), n_cols, n_experts);
  }
  std::vector<float> out(e.sums.size());
  for (int64_t x = 0; x < n_experts; ++x) {
    const size_t first = static_cast<size_t>(x * n_cols), n = static_cast<size_t>(n_cols);
    const float count = e.counts[is_flat ? 0 : static_cast<size_t>(x)];
    double total = 0;
    for (size_t i = first; i < first + n; ++i) total += e.sums[i];
    for (size_t i = first; i < first + n; ++i) {
      const double mean = total / static_cast<double>(n);
      out[i] = count > 0 && mean > 0 ? static_cast<float>(e.sums[i] / mean) : 1.0f;
    }
  }
  return out;
}

}  // namespace ridge::quality
