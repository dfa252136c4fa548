// Reads one GGUF file: header, metadata, tensor table, and the bounds of the tensor data. Reads no tensor data.
// Source: the GGUF specification (ggml, docs/gguf.md).
#include "file/gguf_part.h"

#include <algorithm>
#include <array>

#include "file/cursor.h"

namespace ridge::gguf {
namespace {

// The least that a table's entry takes: memory is reserved for no more entries than the bytes left could hold. The
// count itself is not held against them, so that a file cut short is refused at the key or tensor where it ends.
constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;           // key length, key, type, value
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name length, name, n_dims, one dimension, type, offset

struct Impostor {
  std::string_view begins_with, what;
};
// What people have in hand when they believe they have a GGUF file.
constexpr std::array<Impostor, 9> kImpostors = {{
    {"version https://git-lfs", "a Git LFS pointer, not the file itself: fetch it with git lfs pull"},
    {"<!DOCTYPE", "a web page: the download went wrong"},
    {"<html", "a web page: the download went wrong"},
    {"PK\x03\x04", "a zip archive (a PyTorch checkpoint?): convert it to GGUF"},
    {"lmgg", "a GGML file of 2023: convert the original model again"},
    {"tjgg", "a GGJT file of 2023: convert the original model again"},
    {"fmgg", "a GGMF file of 2023: convert the original model again"},
    {"FUGG", "a GGUF magic with its bytes reversed"},
    {"\x1f\x8b", "a gzip file: unpack it first"},
}};

class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) : in_(bytes) { part_.shard.bytes = bytes; }

  Result<Part> run() {
    RIDGE_CHECK_OK(header());
    RIDGE_CHECK_OK(metadata());
    RIDGE_CHECK_OK(alignment());
    RIDGE_CHECK_OK(tensor_table());
    RIDGE_CHECK_OK(tensor_data());
    return std::move(part_);
  }

 private:
  Result<void> header();
  Result<void> metadata();
  Result<void> entry(uint64_t idx);
  Result<MetaValue> value(std::string_view key, uint32_t type);
  Result<MetaValue> array(std::string_view key);
  Result<MetaValue> strings(std::string_view key, uint64_t n);
  Result<std::string_view> text(std::string_view what, std::string_view name);
  Result<void> alignment();
  Result<void> tensor_table();
  Result<void> tensor(uint64_t idx);
  Result<void> tensor_data();
  Result<void> no_overlap() const;
  Result<void> file_end();

  template <class T>
  Result<MetaValue> scalar(std::string_view key, uint32_t type) {
    T x{};
    if (!in_.read(x)) return truncated(key, type, sizeof(T));
    return MetaValue(x);
  }
  template <class T>
  Result<MetaValue> packed(std::string_view key, uint64_t n, MetaType type) {
    PackedArray<T> a;
    if (in_.read_array(n, a)) return MetaValue(a);
    return fail(ErrorCode::bad_file, "key '{}': an array of {} {}, but only {} bytes are left in the file",
                printable(key), n, to_string(type), in_.remaining());
  }
  tl::unexpected<Error> truncated(std::string_view key, uint32_t type, size_t n_bytes) const {
    return fail(ErrorCode::bad_file, "key '{}': the file ends inside its value: {} bytes are left, {} takes {}",
                printable(key), in_.remaining(), to_string(static_cast<MetaType>(type)), n_bytes);
  }

  Cursor in_;
  Part part_;
  uint64_t n_tensors_ = 0, n_keys_ = 0;
  std::vector<uint64_t> offsets_;  // of tensors, from data_offset
  std::vector<uint64_t> sizes_;    // of tensors, in bytes
};

tl::unexpected<Error> not_gguf(std::span<const std::byte> bytes) {
  if (bytes.empty()) return fail(ErrorCode::bad_file, "the file is empty, expected a GGUF file");
  Cursor in(bytes);
  std::string_view start;
  if (!in.read_chars(std::min<size_t>(bytes.size(), 32), start)) start = {};
  for (const Impostor& i : kImpostors) {
    if (start.starts_with(i.begins_with)) return fail(ErrorCode::bad_file, "not a GGUF file but {}", i.what);
  }
  return fail(ErrorCode::bad_file, "not a GGUF file: it begins with '{}', expected '{}'", printable(start.substr(0, 4)),
              kMagic);
}

Result<void> Parser::header() {
  std::string_view magic;
  if (!in_.read_chars(kMagic.size(), magic) || magic != kMagic) return not_gguf(part_.shard.bytes);
  uint32_t version = 0;
  if (!in_.read(version))
    return fail(ErrorCode::bad_file, "the file ends inside its header, after {} bytes", part_.shard.bytes.size());
  if (version < kMinVersion || version > kMaxVersion) {
    if ((version & 0xFFFFu) == 0 && version != 0) {
      return fail(ErrorCode::unsupported,
                  "a big-endian GGUF file (version {}); only little-endian ones are read: convert it with "
                  "gguf_convert_endian.py",
                  __builtin_bswap32(version));
    }
    if (version == 1) {
      return fail(ErrorCode::unsupported,
                  "GGUF version 1 (August 2023), expected {} or {}: convert the original model again", kMinVersion,
                  kMaxVersion);
    }
    return fail(version == 0 ? ErrorCode::bad_file : ErrorCode::unsupported, "GGUF version {}, expected {} or {}",
                version, kMinVersion, kMaxVersion);
  }
  part_.shard.version = version;
  if (!in_.read(n_tensors_) || !in_.read(n_keys_)) {
    return fail(ErrorCode::bad_file, "the file ends inside its header, after {} bytes", part_.shard.bytes.size());
  }
  if (n_keys_ > kMaxKeys) return fail(ErrorCode::limit, "{} metadata keys, expected at most {}", n_keys_, kMaxKeys);
  if (n_tensors_ > kMaxTensors)
    return fail(ErrorCode::limit, "{} tensors, expected at most {}", n_tensors_, kMaxTensors);
  return {};
}

Result<std::string_view> Parser::text(std::string_view what, std::string_view name) {
  const auto who = [&] { return name.empty() ? std::string(what) : fmt::format("{} '{}'", what, printable(name)); };
  uint64_t n = 0;
  if (!in_.read(n)) {
    return fail(ErrorCode::bad_file, "{}: the file ends before the length of a string: {} bytes are left", who(),
                in_.remaining());
  }
  if (n > in_.remaining()) {
    return fail(ErrorCode::bad_file, "{}: a string of {} bytes, but only {} are left in the file", who(), n,
                in_.remaining());
  }
  if (n > kMaxStringBytes) {
    return fail(ErrorCode::limit, "{}: a string of {} bytes, expected at most {}", who(), n, kMaxStringBytes);
  }
  std::string_view s;
  if (!in_.read_chars(n, s)) return fail(ErrorCode::internal, "{}: a checked length was refused", who());
  return s;
}

Result<void> Parser::metadata() {
  part_.metadata.reserve(static_cast<size_t>(std::min(n_keys_, in_.remaining() / kMinEntryBytes)));
  for (uint64_t i = 0; i < n_keys_; ++i) RIDGE_CHECK_OK(entry(i));
  RIDGE_TRY(part_.key_order, order_by_key(part_.metadata));
  return {};
}

Result<void> Parser::entry(uint64_t idx) {
  const auto place = [&] { return fmt::format("metadata entry {} of {}", idx + 1, n_keys_); };
  auto key = text("its key", {});
  if (!key) return in_context(place(), std::move(key.error()));
  if (auto ok = check_key(*key); !ok) return in_context(place(), std::move(ok.error()));
  uint32_t type = 0;
  if (!in_.read(type)) {
    return fail(ErrorCode::bad_file, "key '{}': the file ends before its type: {} bytes are left", printable(*key),
                in_.remaining());
  }
  RIDGE_TRY(MetaValue v, value(*key, type));
  part_.metadata.push_back({*key, std::move(v)});
  return {};
}

Result<MetaValue> Parser::value(std::string_view key, uint32_t type) {
  switch (static_cast<MetaType>(type)) {
    case MetaType::u8:
      return scalar<uint8_t>(key, type);
    case MetaType::i8:
      return scalar<int8_t>(key, type);
    case MetaType::u16:
      return scalar<uint16_t>(key, type);
    case MetaType::i16:
      return scalar<int16_t>(key, type);
    case MetaType::u32:
      return scalar<uint32_t>(key, type);
    case MetaType::i32:
      return scalar<int32_t>(key, type);
    case MetaType::f32:
      return scalar<float>(key, type);
    case MetaType::u64:
      return scalar<uint64_t>(key, type);
    case MetaType::i64:
      return scalar<int64_t>(key, type);
    case MetaType::f64:
      return scalar<double>(key, type);
    case MetaType::boolean: {
      uint8_t b = 0;
      if (!in_.read(b)) return truncated(key, type, 1);
      if (b > 1) return fail(ErrorCode::bad_file, "key '{}': a bool of {}, expected 0 or 1", printable(key), b);
      return MetaValue(b == 1);
    }
    case MetaType::string: {
      RIDGE_TRY(const std::string_view s, text("key", key));
      return MetaValue(s);
    }
    case MetaType::array:
      return array(key);
  }
  return fail(ErrorCode::bad_file, "key '{}': value type {}, expected 0 to {}", printable(key), type, kMetaTypeEnd - 1);
}

Result<MetaValue> Parser::array(std::string_view key) {
  uint32_t type = 0;
  uint64_t n = 0;
  if (!in_.read(type) || !in_.read(n)) {
    return fail(ErrorCode::bad_file, "key '{}': the file ends inside the head of an array: {} bytes are left",
                printable(key), in_.remaining());
  }
  const auto element = static_cast<MetaType>(type);
  switch (element) {
    case MetaType::u8:
      return packed<uint8_t>(key, n, element);
    case MetaType::i8:
      return packed<int8_t>(key, n, element);
    case MetaType::u16:
      return packed<uint16_t>(key, n, element);
    case MetaType::i16:
      return packed<int16_t>(key, n, element);
    case MetaType::u32:
      return packed<uint32_t>(key, n, element);
    case MetaType::i32:
      return packed<int32_t>(key, n, element);
    case MetaType::f32:
      return packed<float>(key, n, element);
    case MetaType::u64:
      return packed<uint64_t>(key, n, element);
    case MetaType::i64:
      return packed<int64_t>(key, n, element);
    case MetaType::f64:
      return packed<double>(key, n, element);
    case MetaType::boolean: {
      RIDGE_TRY(MetaValue raw, packed<uint8_t>(key, n, element));
      const auto bytes = std::get<PackedArray<uint8_t>>(raw);
      for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 1) {
          return fail(ErrorCode::bad_file, "key '{}': element {} is a bool of {}, expected 0 or 1", printable(key), i,
                      bytes[i]);
        }
      }
      return MetaValue(PackedArray<bool>(bytes.bytes()));
    }
    case MetaType::string:
      return strings(key, n);
    case MetaType::array:
      return fail(ErrorCode::unsupported, "key '{}': an array of arrays; no model needs one and none is read",
                  printable(key));
  }
  return fail(ErrorCode::bad_file, "key '{}': an array of value type {}, expected 0 to {}", printable(key), type,
              kMetaTypeEnd - 1);
}

Result<MetaValue> Parser::strings(std::string_view key, uint64_t n) {
  constexpr uint64_t kLengthBytes =
      8;  // an empty string's length: a list costs 16 bytes of memory a string, so at most twice the file
  if (n > in_.remaining() / kLengthBytes) {
    return fail(ErrorCode::bad_file, "key '{}': an array of {} strings, but only {} bytes are left in the file",
                printable(key), n, in_.remaining());
  }
  StringArray list;
  list.reserve(static_cast<size_t>(n));
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t length = 0;
    std::string_view s;
    if (!in_.read(length) || length > kMaxStringBytes || !in_.read_chars(length, s)) {
      return fail(length > kMaxStringBytes && length <= in_.remaining() ? ErrorCode::limit : ErrorCode::bad_file,
                  "key '{}': string {} of {} has {} bytes, but {} are left in the file (and {} are allowed)",
                  printable(key), i, n, length, in_.remaining(), kMaxStringBytes);
    }
    list.push_back(s);
  }
  return MetaValue(std::move(list));
}

Result<void> Parser::alignment() {
  part_.shard.alignment = kDefaultAlignment;
  const MetaValue* found = find_value(part_, kAlignmentKey);
  if (found == nullptr) return {};
  const uint32_t* wanted = std::get_if<uint32_t>(found);
  if (wanted == nullptr)
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected a u32", kAlignmentKey, describe(*found));
  RIDGE_CHECK_OK(check_alignment(*wanted));
  part_.shard.alignment = *wanted;
  return {};
}

Result<void> Parser::tensor_table() {
  const auto room = static_cast<size_t>(std::min(n_tensors_, in_.remaining() / kMinTensorBytes));
  part_.tensors.reserve(room);
  offsets_.reserve(room);
  sizes_.reserve(room);
  for (uint64_t i = 0; i < n_tensors_; ++i) RIDGE_CHECK_OK(tensor(i));
  RIDGE_CHECK_OK(order_by_name(part_.tensors));
  part_.shard.n_tensors = static_cast<uint32_t>(n_tensors_);
  part_.shard.metadata_end = in_.position();
  part_.shard.data_offset = align_up(in_.position(), part_.shard.alignment);
  return {};
}

Result<void> Parser::tensor(uint64_t idx) {
  const auto place = [&] { return fmt::format("tensor {} of {}", idx + 1, n_tensors_); };
  auto name = text("its name", {});
  if (!name) return in_context(place(), std::move(name.error()));
  if (auto ok = check_tensor_name(*name); !ok) return in_context(place(), std::move(ok.error()));
  const auto ends = [&](std::string_view before) {
    return fail(ErrorCode::bad_file, "tensor '{}': the file ends before its {}: {} bytes are left", printable(*name),
                before, in_.remaining());
  };
  uint32_t n_dims = 0, type = 0;
  if (!in_.read(n_dims)) return ends("number of dimensions");
  if (n_dims == 0 || n_dims > kMaxDims) {
    return fail(ErrorCode::bad_file, "tensor '{}': {} dimensions, expected 1 to {}", printable(*name), n_dims,
                kMaxDims);
  }
  std::array<uint64_t, kMaxDims> dims{};
  for (uint32_t d = 0; d < n_dims; ++d) {
    if (!in_.read(dims[d])) return ends("dimensions");
  }
  uint64_t offset = 0;
  if (!in_.read(type)) return ends("type");
  if (!in_.read(offset)) return ends("offset");
  RIDGE_TRY(const TensorSize size, check_tensor(*name, type, std::span(dims).first(n_dims)));
  TensorView view{.name = *name, .dtype = size.dtype, .n_dims = n_dims};
  for (uint32_t d = 0; d < n_dims; ++d) view.ne[d] = static_cast<int64_t>(dims[d]);
  part_.tensors.push_back(view);
  offsets_.push_back(offset);
  sizes_.push_back(size.n_bytes);
  return {};
}

Result<void> Parser::tensor_data() {
  const GgufShard& s = part_.shard;
  const uint64_t room = s.bytes.size() > s.data_offset ? s.bytes.size() - s.data_offset : 0;
  uint64_t end = 0;
  for (size_t i = 0; i < part_.tensors.size(); ++i) {
    TensorView& t = part_.tensors[i];
    const uint64_t offset = offsets_[i], n_bytes = sizes_[i];
    if (offset % s.alignment != 0) {
      return fail(ErrorCode::bad_file, "tensor '{}': offset {}, expected a multiple of the alignment {}",
                  printable(t.name), offset, s.alignment);
    }
    if (offset > room || n_bytes > room - offset) {
      return fail(ErrorCode::bad_file,
                  "tensor '{}': {} bytes at offset {} of the data, but the data section has {} (the file is cut short "
                  "or damaged)",
                  printable(t.name), n_bytes, offset, room);
    }
    const uint64_t at = s.data_offset + offset;
    if (at % natural_alignment(t.dtype) != 0) {
      return fail(ErrorCode::bad_file,
                  "tensor '{}': its data begins at byte {}, but {} has to begin at a multiple of {}", printable(t.name),
                  at, info(t.dtype).name, natural_alignment(t.dtype));
    }
    t.data = s.bytes.subspan(static_cast<size_t>(at)).data();
    end = std::max(end, offset + n_bytes);
  }
  part_.shard.data_end = part_.tensors.empty() ? s.metadata_end : s.data_offset + end;
  RIDGE_CHECK_OK(no_overlap());
  return file_end();
}

Result<void> Parser::no_overlap() const {
  std::vector<uint32_t> order(offsets_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return offsets_[a] < offsets_[b]; });
  for (size_t i = 1; i < order.size(); ++i) {
    const uint32_t a = order[i - 1], b = order[i];
    if (offsets_[a] + sizes_[a] > offsets_[b]) {
      return fail(ErrorCode::bad_file,
                  "tensor '{}': its data at offset {} overlaps that of tensor '{}' ({} bytes at offset {})",
                  printable(part_.tensors[b].name), offsets_[b], printable(part_.tensors[a].name), sizes_[a],
                  offsets_[a]);
    }
  }
  return {};
}

// Writers differ in whether they pad after the last byte that matters, so a file may end right there or after the
// padding. One that ends between the two has lost its tail.
Result<void> Parser::file_end() {
  GgufShard& s = part_.shard;
  const uint64_t n = s.bytes.size(), padded = align_up(s.data_end, s.alignment);
  if (n > s.data_end && n < padded) {
    return fail(ErrorCode::bad_file,
                "the file has {} bytes and ends inside its last padding, expected {} or {} (it is cut short)", n,
                s.data_end, padded);
  }
  s.n_trailing_bytes = n > padded ? n - padded : 0;
  return {};
}

template <class Item, class Name>
Result<std::vector<uint32_t>> order_by(std::span<const Item> items, std::string_view what, Name name) {
  std::vector<uint32_t> order(items.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return name(items[a]) < name(items[b]); });
  for (size_t i = 1; i < order.size(); ++i) {
    if (name(items[order[i - 1]]) == name(items[order[i]])) {
      return fail(ErrorCode::bad_file, "{} '{}' occurs twice, expected once", what, printable(name(items[order[i]])));
    }
  }
  return order;
}

}  // namespace

Result<std::vector<uint32_t>> order_by_key(std::span<const MetaEntry> metadata) {
  return order_by(metadata, "metadata key", [](const MetaEntry& e) { return e.key; });
}

Result<std::vector<uint32_t>> order_by_name(std::span<const TensorView> tensors) {
  return order_by(tensors, "tensor", [](const TensorView& t) { return t.name; });
}

const MetaValue* find_value(std::span<const MetaEntry> metadata, std::span<const uint32_t> key_order,
                            std::string_view key) {
  const auto it = std::lower_bound(key_order.begin(), key_order.end(), key,
                                   [&](uint32_t i, std::string_view k) { return metadata[i].key < k; });
  if (it == key_order.end() || metadata[*it].key != key) return nullptr;
  return &metadata[*it].value;
}

const MetaValue* find_value(const Part& part, std::string_view key) {
  return find_value(part.metadata, part.key_order, key);
}

Result<Part> parse_part(std::span<const std::byte> bytes) {
  return Parser(bytes).run();
}

}  // namespace ridge::gguf
