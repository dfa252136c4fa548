// A GGUF model file, version 2 or 3, read: metadata, tensors and where they lie. One file, or a whole set of split
// files. Owns the mappings; every string_view, array and TensorView that it gives out points into them and dies with
// it. Refuses, with an error that names the key or tensor, what was found and what was expected: anything that
// gguf_rules.h does not allow. Takes no more memory than a small multiple of the metadata's bytes, and reads no tensor
// data. What the keys mean (heads, layers, vocabulary) is checked by model/ and text/, not here. Immutable after open,
// so any thread may read; movable (views stay valid across a move).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "file/gguf_rules.h"
#include "file/meta_value.h"
#include "tensor/view.h"

namespace ridge {

// One file of the set (a file that is not split is a set of one).
struct GgufShard {
  std::string name;                  // file name; empty for parse()
  std::span<const std::byte> bytes;  // the whole file
  uint32_t version = 0;
  uint32_t alignment = 0;
  uint64_t metadata_end = 0;      // bytes of header, metadata and tensor table
  uint64_t data_offset = 0;       // where tensor offsets count from: metadata_end rounded up to the alignment
  uint64_t data_end = 0;          // end of the last tensor, before its padding; metadata_end where there is none
  uint64_t n_trailing_bytes = 0;  // bytes after the last tensor's padding: allowed, not looked at
  uint32_t n_tensors = 0;
};

// How much of a file is in one format.
struct FormatCount {
  DType dtype = DType::f32;
  uint64_t n_tensors = 0, n_elems = 0, n_bytes = 0;
};

class GgufFile {
 public:
  // Any file of a split set opens the whole set. Errors: not_found, io (the file, or a file of its set); bad_file,
  // unsupported, limit (its contents). Messages begin with the file's path.
  static Result<GgufFile> open(const std::filesystem::path& path);
  // One file's bytes, which outlive the result. They should start at a multiple of 64, as mapped ones do, where tensor
  // data is going to be read. A split file is read alone.
  static Result<GgufFile> parse(std::span<const std::byte> bytes);

  uint32_t version() const { return shards_.front().version; }
  uint32_t alignment() const { return shards_.front().alignment; }
  uint64_t data_offset() const { return shards_.front().data_offset; }
  std::span<const GgufShard> shards() const { return shards_; }
  uint64_t file_bytes() const;  // of all files

  // Of a set: the first file's, which holds the model's.
  std::span<const MetaEntry> metadata() const { return metadata_; }  // in file order
  const MetaValue* find(std::string_view key) const;                 // nullptr: no such key
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // T: an integer, float, double, bool or std::string_view. Errors: not_found, bad_file.
  template <MetaScalar T>
  Result<T> get(std::string_view key) const {
    const MetaValue* value = find(key);
    if (value == nullptr) return missing(key);
    return meta_get<T>(key, *value);
  }
  // nullopt where the key is absent; a key of another kind is still an error.
  template <MetaScalar T>
  Result<std::optional<T>> get_optional(std::string_view key) const {
    const MetaValue* value = find(key);
    if (value == nullptr) return std::optional<T>();
    RIDGE_TRY(T got, meta_get<T>(key, *value));
    return std::optional<T>(got);
  }
  template <MetaScalar T>
  Result<T> get_or(std::string_view key, T fallback) const {
    const MetaValue* value = find(key);
    if (value == nullptr) return fallback;
    return meta_get<T>(key, *value);
  }
  Result<std::string_view> get_string(std::string_view key) const { return get<std::string_view>(key); }
  Result<uint32_t> get_u32(std::string_view key) const { return get<uint32_t>(key); }
  Result<float> get_f32(std::string_view key) const { return get<float>(key); }
  Result<bool> get_bool(std::string_view key) const { return get<bool>(key); }

  // A copy of a numeric array. For no copy: std::get_if<PackedArray<T>>(find(key)).
  template <MetaNumber T>
  Result<std::vector<T>> get_array(std::string_view key) const {
    const MetaValue* value = find(key);
    if (value == nullptr) return missing(key);
    return meta_array<T>(key, *value);
  }
  // A value for each of n layers: an array of n, or one number that holds for all. An array of another length is an
  // error.
  template <MetaNumber T>
  Result<std::vector<T>> get_per_layer(std::string_view key, size_t n) const {
    const MetaValue* value = find(key);
    if (value == nullptr) return missing(key);
    if (type_of(*value) != MetaType::array) {
      RIDGE_TRY(const T one, meta_get<T>(key, *value));
      return std::vector<T>(n, one);
    }
    if (count_of(*value) != n) return wrong_length(key, *value, n);
    return meta_array<T>(key, *value);
  }
  // A string array, without copying.
  Result<std::span<const std::string_view>> get_strings(std::string_view key) const;

  // In file order; of a set, first file first. Bounds, shapes and names have been checked.
  std::span<const TensorView> tensors() const { return tensors_; }
  const TensorView* find_tensor(std::string_view name) const;  // nullptr: no such tensor
  uint64_t n_params() const;                                   // elements of all tensors
  std::vector<FormatCount> formats() const;                    // by type id, only those that occur

 private:
  GgufFile() = default;
  static tl::unexpected<Error> missing(std::string_view key);
  static tl::unexpected<Error> wrong_length(std::string_view key, const MetaValue& value, size_t wanted);
  friend struct GgufAssembly;  // puts parts together; private to gguf.cc

  std::vector<MappedFile> mappings_;
  std::vector<GgufShard> shards_;
  std::vector<MetaEntry> metadata_;
  std::vector<uint32_t> key_order_;  // indices into metadata_, by key
  std::vector<TensorView> tensors_;
  std::vector<uint32_t> tensor_order_;  // indices into tensors_, by name
};

}  // namespace ridge
