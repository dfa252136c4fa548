// Which files make a set, and whether they belong together.
#include "file/gguf_split.h"

#include <array>

namespace ridge::gguf {
namespace {

// The tail of a name, with its two numbers at 1 and 10 ("-00001-of-00003.gguf").
constexpr std::string_view kTailForm = "-#####-of-#####.gguf";
constexpr size_t kNumberAt = 1, kCountAt = 10, kDigits = 5;

uint32_t number_at(std::string_view tail, size_t at) {
  uint32_t n = 0;
  for (size_t i = at; i < at + kDigits; ++i) n = n * 10 + static_cast<uint32_t>(tail[i] - '0');
  return n;
}

Result<std::optional<uint64_t>> number_of(const Part& part, std::string_view key) {
  const MetaValue* value = find_value(part, key);
  if (value == nullptr) return std::optional<uint64_t>();
  RIDGE_TRY(const uint64_t n, meta_get<uint64_t>(key, *value));
  return std::optional<uint64_t>(n);
}

}  // namespace

std::optional<ShardName> parse_shard_name(std::string_view file_name) {
  if (file_name.size() < kTailForm.size()) return std::nullopt;
  const std::string_view tail = file_name.substr(file_name.size() - kTailForm.size());
  for (size_t i = 0; i < tail.size(); ++i) {
    const bool fits = kTailForm[i] == '#' ? tail[i] >= '0' && tail[i] <= '9' : tail[i] == kTailForm[i];
    if (!fits) return std::nullopt;
  }
  return ShardName{.prefix = std::string(file_name.substr(0, file_name.size() - kTailForm.size())),
                   .number = number_at(tail, kNumberAt),
                   .count = number_at(tail, kCountAt)};
}

std::string shard_file_name(const ShardName& set, uint32_t number) {
  return fmt::format("{}-{:05d}-of-{:05d}.gguf", set.prefix, number, set.count);
}

Result<std::optional<ShardName>> set_of(const Part& part, const std::filesystem::path& path) {
  const std::optional<ShardName> name = parse_shard_name(path.filename().string());
  RIDGE_TRY(const std::optional<uint64_t> count, number_of(part, kSplitCount));
  if (!count || *count <= 1) {
    if (!name || name->count <= 1) return std::optional<ShardName>();
    return fail(
        ErrorCode::bad_file,
        "its name says file {} of {}, but its key '{}' {}: it is no part of such a set; rename it to load it alone",
        name->number, name->count, kSplitCount, count ? fmt::format("is {}", *count) : "is missing");
  }
  if (*count > kMaxShards) {
    return fail(ErrorCode::limit, "key '{}': {} files, expected at most {}", kSplitCount, *count, kMaxShards);
  }
  RIDGE_TRY(const std::optional<uint64_t> no, number_of(part, kSplitNo));
  if (!no || *no >= *count) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected 0 to {} ('{}' is {})", kSplitNo,
                no ? fmt::format("{}", *no) : "nothing", *count - 1, kSplitCount, *count);
  }
  if (!name || name->number != *no + 1 || name->count != *count) {
    const ShardName right{.prefix = name ? name->prefix : path.stem().string(), .count = static_cast<uint32_t>(*count)};
    return fail(
        ErrorCode::bad_file,
        "holds file {} of {} of a split model ('{}' {}, '{}' {}), so its name should be like '{}', beside the others; "
        "restore the name (files joined by cat are no model: merge with gguf-split)",
        *no + 1, *count, kSplitNo, *no, kSplitCount, *count, shard_file_name(right, static_cast<uint32_t>(*no + 1)));
  }
  return name;
}

Result<void> check_shard(const Part& part, const Part& first, const ShardName& set, uint32_t number) {
  RIDGE_TRY(const std::optional<uint64_t> count, number_of(part, kSplitCount));
  if (!count || *count != set.count) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected {}: the file is not from this set", kSplitCount,
                count ? fmt::format("{}", *count) : "nothing", set.count);
  }
  RIDGE_TRY(const std::optional<uint64_t> no, number_of(part, kSplitNo));
  if (!no || *no != number - 1) {
    return fail(ErrorCode::bad_file,
                "key '{}': found {}, expected {}, as its name says: the files of the set were mixed up", kSplitNo,
                no ? fmt::format("{}", *no) : "nothing", number - 1);
  }
  if (part.shard.version != first.shard.version) {
    return fail(ErrorCode::bad_file, "GGUF version {}, but the first file of the set has {}", part.shard.version,
                first.shard.version);
  }
  // Later files may repeat the model's description; where they do, it has to be the same model's.
  for (const MetaEntry& e : part.metadata) {
    if (!(e.key.starts_with("general.") || e.key == kSplitTensors) || e.key == kAlignmentKey) continue;
    const MetaValue* other = find_value(first, e.key);
    if (other != nullptr && !same_value(*other, e.value)) {
      return fail(ErrorCode::bad_file,
                  "key '{}': found {}, but the first file of the set has {}: the files are of two models",
                  printable(e.key), describe(e.value), describe(*other));
    }
  }
  return {};
}

Result<void> check_set(std::span<const Part> parts) {
  uint64_t n_tensors = 0;
  for (const Part& p : parts) n_tensors += p.tensors.size();
  if (n_tensors > kMaxTensors)
    return fail(ErrorCode::limit, "{} tensors in the set, expected at most {}", n_tensors, kMaxTensors);
  RIDGE_TRY(const std::optional<uint64_t> declared, number_of(parts.front(), kSplitTensors));
  if (!declared) return fail(ErrorCode::bad_file, "key '{}' is missing from the first file of the set", kSplitTensors);
  if (*declared != n_tensors) {
    return fail(ErrorCode::bad_file, "key '{}': {}, but the {} files of the set hold {} tensors", kSplitTensors,
                *declared, parts.size(), n_tensors);
  }
  return {};
}

}  // namespace ridge::gguf
