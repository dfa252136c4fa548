// Source: the GGUF specification (ggml, docs/gguf.md).
#include "file/gguf_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "file/gguf_part.h"
#include "file/gguf_split.h"

namespace ridge {
namespace {

// Little-endian bytes, appended.
class ByteList {
 public:
  void bytes(std::span<const std::byte> b) {
    if (b.empty()) return;
    // resize and copy: g++ 12 warns, wrongly, of an overflow inside vector::insert
    const size_t at = list_.size();
    list_.resize(at + b.size());
    std::memcpy(list_.data() + at, b.data(), b.size());
  }
  template <class T>
  void number(T x) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    bytes(std::as_bytes(std::span(&x, 1)));
  }
  void text(std::string_view s) {
    number(uint64_t{s.size()});
    bytes(std::as_bytes(std::span(s)));
  }
  std::vector<std::byte> take() && { return std::move(list_); }

 private:
  std::vector<std::byte> list_;
};

Result<void> put_text(ByteList& out, std::string_view key, std::string_view s) {
  if (s.size() > gguf::kMaxStringBytes) {
    return fail(ErrorCode::limit, "key '{}': a string of {} bytes, expected at most {}", printable(key), s.size(),
                gguf::kMaxStringBytes);
  }
  out.text(s);
  return {};
}

Result<void> put_value(ByteList& out, std::string_view key, const MetaValue& value) {
  out.number(static_cast<uint32_t>(type_of(value)));
  if (type_of(value) == MetaType::array) {
    out.number(static_cast<uint32_t>(element_type_of(value)));
    out.number(uint64_t{count_of(value)});
  }
  return std::visit(
      [&]<class V>(const V& v) -> Result<void> {
        if constexpr (std::same_as<V, std::string_view>) {
          return put_text(out, key, v);
        } else if constexpr (std::same_as<V, StringArray>) {
          for (const std::string_view s : v) RIDGE_CHECK_OK(put_text(out, key, s));
        } else if constexpr (std::same_as<V, bool>) {
          out.number(static_cast<uint8_t>(v ? 1 : 0));
        } else if constexpr (std::is_arithmetic_v<V>) {
          out.number(v);
        } else {
          out.bytes(v.bytes());
        }
        return {};
      },
      value);
}

}  // namespace

GgufWriter GgufWriter::from(const GgufFile& file) {
  GgufWriter w(file.version());
  const bool is_set = file.shards().size() > 1;
  for (const MetaEntry& e : file.metadata()) {
    const bool of_set = e.key == gguf::kSplitNo || e.key == gguf::kSplitCount || e.key == gguf::kSplitTensors;
    if (!is_set || !of_set) w.metadata_.push_back(e);
  }
  w.tensors_.assign(file.tensors().begin(), file.tensors().end());
  const GgufShard& s = file.shards().front();
  w.pad_end_ = is_set || s.bytes.size() != s.data_end;
  return w;
}

Result<uint32_t> GgufWriter::alignment() const {
  for (const MetaEntry& e : metadata_) {
    if (e.key != gguf::kAlignmentKey) continue;
    const uint32_t* a = std::get_if<uint32_t>(&e.value);
    if (a == nullptr) return fail(ErrorCode::bad_file, "key '{}': found {}, expected a u32", e.key, describe(e.value));
    RIDGE_CHECK_OK(gguf::check_alignment(*a));
    return *a;
  }
  return gguf::kDefaultAlignment;
}

// Header, metadata and tensor table.
Result<std::vector<std::byte>> GgufWriter::head(uint32_t alignment) const {
  if (version_ < gguf::kMinVersion || version_ > gguf::kMaxVersion) {
    return fail(ErrorCode::unsupported, "GGUF version {}, expected {} or {}", version_, gguf::kMinVersion,
                gguf::kMaxVersion);
  }
  if (metadata_.size() > gguf::kMaxKeys) {
    return fail(ErrorCode::limit, "{} metadata keys, expected at most {}", metadata_.size(), gguf::kMaxKeys);
  }
  if (tensors_.size() > gguf::kMaxTensors) {
    return fail(ErrorCode::limit, "{} tensors, expected at most {}", tensors_.size(), gguf::kMaxTensors);
  }
  RIDGE_CHECK_OK(gguf::order_by_key(metadata_));
  RIDGE_CHECK_OK(gguf::order_by_name(tensors_));
  ByteList out;
  out.bytes(std::as_bytes(std::span(gguf::kMagic)));
  out.number(version_);
  out.number(uint64_t{tensors_.size()});
  out.number(uint64_t{metadata_.size()});
  for (const MetaEntry& e : metadata_) {
    RIDGE_CHECK_OK(gguf::check_key(e.key));
    out.text(e.key);
    RIDGE_CHECK_OK(put_value(out, e.key, e.value));
  }
  uint64_t offset = 0;
  for (const TensorView& t : tensors_) {
    RIDGE_CHECK_OK(gguf::check_tensor_name(t.name));
    if (t.n_dims > gguf::kMaxDims) {
      return fail(ErrorCode::bad_file, "tensor '{}': {} dimensions, expected 1 to {}", printable(t.name), t.n_dims,
                  gguf::kMaxDims);
    }
    std::array<uint64_t, gguf::kMaxDims> dims{};
    for (uint32_t d = 0; d < t.n_dims; ++d) dims[d] = static_cast<uint64_t>(t.ne[d]);
    const auto type_id = static_cast<uint32_t>(t.dtype);
    RIDGE_TRY(const gguf::TensorSize size, gguf::check_tensor(t.name, type_id, std::span(dims).first(t.n_dims)));
    if (alignment % gguf::natural_alignment(t.dtype) != 0) {
      return fail(ErrorCode::bad_file, "tensor '{}': {} has to begin at a multiple of {}, but the alignment is {}",
                  printable(t.name), info(t.dtype).name, gguf::natural_alignment(t.dtype), alignment);
    }
    out.text(t.name);
    out.number(t.n_dims);
    for (uint32_t d = 0; d < t.n_dims; ++d) out.number(dims[d]);
    out.number(type_id);
    out.number(offset);
    if (__builtin_add_overflow(offset, size.n_bytes, &offset) || offset > (uint64_t{1} << 62)) {
      return fail(ErrorCode::limit, "tensor '{}': the file would have 2^62 bytes or more", printable(t.name));
    }
    offset = gguf::align_up(offset, alignment);
  }
  return std::move(out).take();
}

Result<void> GgufWriter::emit(const Sink& sink) const {
  RIDGE_TRY(const uint32_t align, alignment());
  RIDGE_TRY(const std::vector<std::byte> start, head(align));
  const std::vector<std::byte> zeros(align);
  const auto pad = [&](uint64_t n) {
    return sink(std::span(zeros).first(static_cast<size_t>(gguf::align_up(n, align) - n)));
  };
  RIDGE_CHECK_OK(sink(start));
  if (!tensors_.empty() || pad_end_) RIDGE_CHECK_OK(pad(start.size()));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const size_t n = tensors_[i].n_bytes();
    RIDGE_CHECK_OK(sink({tensors_[i].data, n}));
    if (i + 1 < tensors_.size() || pad_end_) RIDGE_CHECK_OK(pad(n));
  }
  return {};
}

Result<void> GgufWriter::write(const std::filesystem::path& path) const {
  RIDGE_TRY(AtomicFile file, AtomicFile::create(path));
  auto ok = emit([&file](std::span<const std::byte> b) { return file.write(b); });
  if (!ok) return in_context(fmt::format("'{}'", path.string()), std::move(ok.error()));
  return file.commit();
}

Result<GgufStream> GgufWriter::start(const std::filesystem::path& path) const {
  const auto begin = [&]() -> Result<GgufStream> {
    RIDGE_TRY(const uint32_t align, alignment());
    RIDGE_TRY(const std::vector<std::byte> start, head(align));
    RIDGE_TRY(AtomicFile file, AtomicFile::create(path));
    GgufStream stream(std::move(file));
    stream.alignment_ = align;
    stream.pad_end_ = pad_end_;
    for (const TensorView& t : tensors_) stream.sizes_.push_back(t.n_bytes());
    RIDGE_CHECK_OK(stream.file_.write(start));
    if (!tensors_.empty() || pad_end_) RIDGE_CHECK_OK(stream.pad(start.size()));
    return stream;
  };
  auto stream = begin();
  if (!stream) return in_context(fmt::format("'{}'", path.string()), std::move(stream.error()));
  return stream;
}

Result<void> GgufStream::pad(uint64_t n_bytes) {
  const std::vector<std::byte> zeros(static_cast<size_t>(gguf::align_up(n_bytes, alignment_) - n_bytes));
  return file_.write(zeros);
}

Result<void> GgufStream::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (tensor_idx_ == sizes_.size())
      return fail(ErrorCode::invalid_argument, "{} bytes more than the {} tensors have", bytes.size(), sizes_.size());
    const uint64_t size = sizes_[tensor_idx_];
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes.size(), size - n_written_));
    RIDGE_CHECK_OK(file_.write(bytes.first(n)));
    bytes = bytes.subspan(n);
    n_written_ += n;
    if (n_written_ < size) continue;
    n_written_ = 0;
    if (++tensor_idx_ < sizes_.size() || pad_end_) RIDGE_CHECK_OK(pad(size));
  }
  return {};
}

Result<void> GgufStream::finish() {
  if (tensor_idx_ < sizes_.size()) {
    return fail(ErrorCode::invalid_argument, "the data of tensor {} of {} ends after {} of {} bytes", tensor_idx_ + 1,
                sizes_.size(), n_written_, sizes_[tensor_idx_]);
  }
  return file_.commit();
}

Result<std::vector<std::byte>> GgufWriter::serialise() const {
  ByteList out;
  RIDGE_CHECK_OK(emit([&out](std::span<const std::byte> b) -> Result<void> {
    out.bytes(b);
    return {};
  }));
  return std::move(out).take();
}

}  // namespace ridge
