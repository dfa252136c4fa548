// One file of a GGUF set, parsed and checked: what GgufFile is put together from. For the .cc files of file/ only.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "file/gguf.h"

namespace ridge::gguf {

struct Part {
  GgufShard shard;
  std::vector<MetaEntry> metadata;
  std::vector<uint32_t> key_order;  // indices into metadata, by key
  std::vector<TensorView> tensors;
};

Result<Part> parse_part(std::span<const std::byte> bytes);

const MetaValue* find_value(const Part& part, std::string_view key);
const MetaValue* find_value(std::span<const MetaEntry> metadata, std::span<const uint32_t> key_order,
                            std::string_view key);

// Indices of items by name, or an error that names the first name found twice ("metadata key", "tensor"). Sorting, not
// hashing: a file can choose its names so that a hash table becomes a list.
Result<std::vector<uint32_t>> order_by_key(std::span<const MetaEntry> metadata);
Result<std::vector<uint32_t>> order_by_name(std::span<const TensorView> tensors);

}  // namespace ridge::gguf
