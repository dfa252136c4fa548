// What a GGUF file may and may not say: the limits and the checks that reader and writer share, so that nothing is
// written that would not be read again. Sources: the GGUF specification (ggml, docs/gguf.md); where it is silent or its
// implementation stricter, ggml's reader; the counts and sizes are our own limits, far above any published model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "tensor/dtype.h"

namespace ridge::gguf {

inline constexpr uint64_t kMaxKeys = 65'536;
inline constexpr uint64_t kMaxTensors = 65'536;           // of a whole set of split files
inline constexpr uint64_t kMaxKeyBytes = 65'535;          // the specification's 2^16 - 1
inline constexpr uint64_t kMaxTensorNameBytes = 64;       // the specification's; ggml itself stops at 63, keeping a NUL
inline constexpr uint64_t kMaxStringBytes = 64ull << 20;  // the longest known, a tokenizer.json, is 20 MB
inline constexpr uint32_t kMaxDims = 4;
inline constexpr uint32_t kMaxAlignment = 65'536;
inline constexpr uint32_t kDefaultAlignment = 32;
inline constexpr uint32_t kMaxShards = 4'096;

inline constexpr uint32_t kMinVersion = 2, kMaxVersion = 3;  // both have the same layout; 1 had 32-bit counts
inline constexpr std::string_view kMagic = "GGUF";
inline constexpr std::string_view kAlignmentKey = "general.alignment";

// Keys and tensor names: not empty, no longer than the limit, valid UTF-8 without control characters (they end up in
// messages, tables and C strings).
Result<void> check_key(std::string_view key);
Result<void> check_tensor_name(std::string_view name);
// A power of two, 1 to kMaxAlignment.
Result<void> check_alignment(uint64_t alignment);

struct TensorSize {
  DType dtype = DType::f32;
  uint64_t n_elems = 0, n_bytes = 0;
};
// The size of a tensor so declared; refuses an unknown or removed type, 0 or more than 4 dimensions, a dimension that
// is 0 or above 2^63 - 1, a product that overflows, and rows that are not whole blocks.
Result<TensorSize> check_tensor(std::string_view name, uint32_t type_id, std::span<const uint64_t> dims);

// Bytes at which data of this type may start: what its widest scalar needs. alignment is a power of two.
uint32_t natural_alignment(DType type);
inline uint64_t align_up(uint64_t n, uint64_t alignment) {
  return (n + alignment - 1) & ~(alignment - 1);
}

}  // namespace ridge::gguf
