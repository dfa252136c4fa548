// Split sets: PREFIX-00001-of-00003.gguf and so on, numbered from 1, each a whole GGUF file with a share of the
// tensors. The first holds the model's metadata. For the .cc files of file/ only. Source: llama.cpp's gguf-split
// (names, keys split.no from 0, split.count, split.tensors.count).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "file/gguf_part.h"

namespace ridge::gguf {

inline constexpr std::string_view kSplitNo = "split.no", kSplitCount = "split.count",
                                  kSplitTensors = "split.tensors.count";

struct ShardName {
  std::string prefix;  // file name before "-00001-of-00003.gguf"
  uint32_t number = 0, count = 0;
};
// nullopt for a name that is not of this form.
std::optional<ShardName> parse_shard_name(std::string_view file_name);
std::string shard_file_name(const ShardName& set, uint32_t number);

// The set that this file belongs to, by its metadata, its name having been found to agree; nullopt for a file that
// stands alone.
Result<std::optional<ShardName>> set_of(const Part& part, const std::filesystem::path& path);

// Whether part is file `number` of the set whose first file is `first` (which may be part itself).
Result<void> check_shard(const Part& part, const Part& first, const ShardName& set, uint32_t number);
// Whether the files together hold what the first says.
Result<void> check_set(std::span<const Part> parts);

}  // namespace ridge::gguf
