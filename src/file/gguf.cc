// Opens a model file, or the set it belongs to, and answers by name.
#include "file/gguf.h"

#include <algorithm>
#include <array>

#include "file/gguf_part.h"
#include "file/gguf_split.h"

namespace ridge {
namespace {

// A mapping and what was read from it.
struct OpenedPart {
  MappedFile mapping;
  gguf::Part part;
};

Result<OpenedPart> open_part(const std::filesystem::path& path) {
  OpenedPart out;
  RIDGE_TRY(out.mapping, MappedFile::open(path));
  auto part = gguf::parse_part(out.mapping.bytes());
  if (!part) return in_context(fmt::format("'{}'", path.string()), std::move(part.error()));
  out.part = std::move(*part);
  out.part.shard.name = path.filename().string();
  return out;
}

}  // namespace

// Puts the parts, in the order of the set, into one file. `mappings` may be empty (parse).
struct GgufAssembly {
  static Result<GgufFile> join(std::vector<gguf::Part> parts, std::vector<MappedFile> mappings) {
    GgufFile f;
    f.mappings_ = std::move(mappings);
    size_t n_tensors = 0;
    for (const gguf::Part& p : parts) n_tensors += p.tensors.size();
    f.tensors_.reserve(n_tensors);
    for (gguf::Part& p : parts) {
      f.tensors_.insert(f.tensors_.end(), p.tensors.begin(), p.tensors.end());
      f.shards_.push_back(std::move(p.shard));
    }
    f.metadata_ = std::move(parts.front().metadata);
    f.key_order_ = std::move(parts.front().key_order);
    RIDGE_TRY(f.tensor_order_, gguf::order_by_name(f.tensors_));
    return f;
  }
};

Result<GgufFile> GgufFile::open(const std::filesystem::path& path) {
  const auto place = [](const std::filesystem::path& p) { return fmt::format("'{}'", p.string()); };
  RIDGE_TRY(OpenedPart asked, open_part(path));
  auto set = gguf::set_of(asked.part, path);
  if (!set) return in_context(place(path), std::move(set.error()));

  std::vector<gguf::Part> parts;
  std::vector<MappedFile> mappings;
  const uint32_t count = *set ? (*set)->count : 1;
  parts.reserve(count);
  for (uint32_t number = 1; number <= count; ++number) {
    if (!*set || number == (*set)->number) {
      parts.push_back(std::move(asked.part));
      mappings.push_back(std::move(asked.mapping));
    } else {
      auto opened = open_part(path.parent_path() / gguf::shard_file_name(**set, number));
      if (!opened && opened.error().code == ErrorCode::not_found) {
        return fail(ErrorCode::not_found, "{} (it is file {} of the {} that '{}' needs)", opened.error().message,
                    number, count, path.filename().string());
      }
      if (!opened) return tl::unexpected<Error>(std::move(opened.error()));
      parts.push_back(std::move(opened->part));
      mappings.push_back(std::move(opened->mapping));
    }
    if (!*set) continue;
    if (auto ok = gguf::check_shard(parts.back(), parts.front(), **set, number); !ok) {
      return in_context(place(path.parent_path() / parts.back().shard.name), std::move(ok.error()));
    }
  }
  if (*set) {
    if (auto ok = gguf::check_set(parts); !ok) return in_context(place(path), std::move(ok.error()));
  }
  auto file = GgufAssembly::join(std::move(parts), std::move(mappings));
  if (!file) return in_context(place(path), std::move(file.error()));
  return file;
}

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes) {
  RIDGE_TRY(gguf::Part part, gguf::parse_part(bytes));
  std::vector<gguf::Part> parts;
  parts.push_back(std::move(part));
  return GgufAssembly::join(std::move(parts), {});
}

uint64_t GgufFile::file_bytes() const {
  uint64_t n = 0;
  for (const GgufShard& s : shards_) n += s.bytes.size();
  return n;
}

const MetaValue* GgufFile::find(std::string_view key) const {
  return gguf::find_value(metadata_, key_order_, key);
}

Result<std::span<const std::string_view>> GgufFile::get_strings(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr) return missing(key);
  const StringArray* list = std::get_if<StringArray>(value);
  if (list == nullptr) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected an array of string", printable(key),
                describe(*value));
  }
  return std::span<const std::string_view>(*list);
}

const TensorView* GgufFile::find_tensor(std::string_view name) const {
  const auto it = std::lower_bound(tensor_order_.begin(), tensor_order_.end(), name,
                                   [this](uint32_t i, std::string_view n) { return tensors_[i].name < n; });
  if (it == tensor_order_.end() || tensors_[*it].name != name) return nullptr;
  return &tensors_[*it];
}

uint64_t GgufFile::n_params() const {
  uint64_t n = 0;
  for (const TensorView& t : tensors_) n += static_cast<uint64_t>(t.n_elems());
  return n;
}

std::vector<FormatCount> GgufFile::formats() const {
  std::array<FormatCount, kDTypeIdEnd> by_id{};
  for (const TensorView& t : tensors_) {
    FormatCount& c = by_id[static_cast<uint32_t>(t.dtype)];
    c.dtype = t.dtype;
    c.n_tensors += 1;
    c.n_elems += static_cast<uint64_t>(t.n_elems());
    c.n_bytes += t.n_bytes();
  }
  std::vector<FormatCount> out;
  for (const FormatCount& c : by_id) {
    if (c.n_tensors > 0) out.push_back(c);
  }
  return out;
}

tl::unexpected<Error> GgufFile::missing(std::string_view key) {
  return fail(ErrorCode::not_found, "key '{}' is missing from the file's metadata", printable(key));
}

tl::unexpected<Error> GgufFile::wrong_length(std::string_view key, const MetaValue& value, size_t wanted) {
  return fail(ErrorCode::bad_file, "key '{}': found {}, expected {} elements (one a layer)", printable(key),
              describe(value), wanted);
}

}  // namespace ridge
