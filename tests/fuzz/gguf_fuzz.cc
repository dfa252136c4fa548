// Any bytes as a GGUF file: refused with a message, or read; and what is read can be looked at in full and written back
// to an equal file. Inputs above 1 MiB are skipped (the seeds are below 8 KiB).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "file/gguf.h"
#include "file/gguf_writer.h"

namespace {

using namespace ridge;

// assert() is gone from release builds, where the corpus is replayed too.
void require(bool ok) {
  if (!ok) std::abort();
}

uint64_t touch(const MetaValue& value) {
  return std::visit(
      []<class V>(const V& v) -> uint64_t {
        uint64_t sum = 0;
        if constexpr (std::same_as<V, std::string_view>) {
          for (const char c : v) sum += static_cast<uint8_t>(c);
        } else if constexpr (std::same_as<V, StringArray>) {
          for (const std::string_view s : v) {
            for (const char c : s) sum += static_cast<uint8_t>(c);
          }
        } else if constexpr (std::is_arithmetic_v<V>) {
          sum = v != V{} ? 1 : 0;
        } else {
          for (size_t i = 0; i < v.size(); ++i) sum += v[i] != typename V::value_type{} ? 1 : 0;
        }
        return sum;
      },
      value);
}

uint64_t touch(const GgufFile& file, std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  for (const MetaEntry& e : file.metadata()) {
    require(file.find(e.key) == &e.value);
    require(!describe(e.value).empty());
    sum += touch(e.value);
    // Every typed question has an answer or an error that names the key.
    for (const auto& error : {file.get<int32_t>(e.key).has_value(), file.get<uint64_t>(e.key).has_value(),
                              file.get_f32(e.key).has_value(), file.get_bool(e.key).has_value(),
                              file.get_string(e.key).has_value(), file.get_array<int32_t>(e.key).has_value(),
                              file.get_array<float>(e.key).has_value(), file.get_strings(e.key).has_value()}) {
      sum += error ? 1 : 0;
    }
  }
  for (const TensorView& t : file.tensors()) {
    require(file.find_tensor(t.name) == &t);
    require(t.data >= bytes.data() && t.n_bytes() > 0);
    require(t.n_bytes() <= static_cast<size_t>(bytes.data() + bytes.size() - t.data));
    sum += static_cast<uint64_t>(t.data[0]) + static_cast<uint64_t>(t.data[t.n_bytes() - 1]);
  }
  sum += file.n_params() + file.formats().size();
  return sum;
}

bool equal(const GgufFile& a, const GgufFile& b) {
  if (a.version() != b.version() || a.alignment() != b.alignment() || a.metadata().size() != b.metadata().size() ||
      a.tensors().size() != b.tensors().size()) {
    return false;
  }
  for (size_t i = 0; i < a.metadata().size(); ++i) {
    if (a.metadata()[i].key != b.metadata()[i].key || !same_value(a.metadata()[i].value, b.metadata()[i].value))
      return false;
  }
  for (size_t i = 0; i < a.tensors().size(); ++i) {
    const TensorView &x = a.tensors()[i], &y = b.tensors()[i];
    if (x.name != y.name || x.dtype != y.dtype || x.n_dims != y.n_dims || x.ne != y.ne) return false;
    if (std::memcmp(x.data, y.data, x.n_bytes()) != 0) return false;
  }
  return true;
}

// Tensors in order without gaps, and nothing after them: such a file comes back byte for byte, but for what its padding
// holds.
bool is_packed(const GgufFile& file) {
  const GgufShard& s = file.shards()[0];
  const std::byte* next = s.bytes.data() + s.data_offset;
  for (const TensorView& t : file.tensors()) {
    if (t.data != next) return false;
    next += gguf::align_up(t.n_bytes(), s.alignment);
  }
  return s.n_trailing_bytes == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t max_bytes = 1 << 20;
  if (size > max_bytes) return 0;
  // A copy at a multiple of 64, as a mapping has it, and of the exact size, so that one byte too many is seen.
  const std::unique_ptr<std::byte, decltype(&std::free)> copy(
      static_cast<std::byte*>(std::aligned_alloc(64, (size + 64) / 64 * 64)), &std::free);
  require(copy != nullptr);
  if (size > 0) std::memcpy(copy.get(), data, size);
  const std::span<const std::byte> bytes(copy.get(), size);

  const auto file = GgufFile::parse(bytes);
  if (!file) {
    require(!file.error().message.empty() && file.error().code != ErrorCode::internal);
    return 0;
  }
  volatile uint64_t sink = touch(*file, bytes);
  static_cast<void>(sink);

  // An alignment of 1 with a float tensor that happens to lie right is read but cannot be written so for sure.
  const auto written = GgufWriter::from(*file).serialise();
  if (!written) {
    require(file->alignment() < 8);
    return 0;
  }
  const auto again = GgufFile::parse(*written);
  require(again.has_value());
  require(equal(*file, *again));
  const size_t end = file->shards()[0].metadata_end;
  if (is_packed(*file)) {
    require(written->size() == size && std::memcmp(written->data(), bytes.data(), end) == 0);
  }
  const auto third = GgufWriter::from(*again).serialise();
  require(third.has_value() && *third == *written);
  return 0;
}
