// The checks that reader and writer share. Source of the type ids: ggml's enum ggml_type; see tensor/dtype.h for the
// living ones.
#include "file/gguf_rules.h"

#include <array>
#include <limits>

#include "base/utf8.h"
#include "file/meta_value.h"

namespace ridge::gguf {
namespace {

// Ids that were types once, or are types that no file holds. To say so helps more than "unknown".
struct DeadType {
  uint32_t id;
  std::string_view what;
};
constexpr std::array<DeadType, 10> kDeadTypes = {{
    {4, "q4_2, removed from the format in 2023"},
    {5, "q4_3, removed from the format in 2023"},
    {9, "q8_1, which only exists inside a computation"},
    {15, "q8_K, which only exists inside a computation"},
    {31, "q4_0_4_4, removed from the format in 2024: use the q4_0 file"},
    {32, "q4_0_4_8, removed from the format in 2024: use the q4_0 file"},
    {33, "q4_0_8_8, removed from the format in 2024: use the q4_0 file"},
    {36, "iq4_nl_4_4, removed from the format in 2024: use the iq4_nl file"},
    {37, "iq4_nl_4_8, removed from the format in 2024: use the iq4_nl file"},
    {38, "iq4_nl_8_8, removed from the format in 2024: use the iq4_nl file"},
}};

Result<void> check_text(std::string_view what, std::string_view text, uint64_t max_bytes) {
  if (text.empty()) return fail(ErrorCode::bad_file, "{} is empty, expected 1 to {} bytes", what, max_bytes);
  if (text.size() > max_bytes) {
    return fail(ErrorCode::limit, "{} '{}' has {} bytes, expected at most {}", what, printable(text), text.size(),
                max_bytes);
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      return fail(ErrorCode::bad_file, "{} '{}' holds the control character {:#04x}, expected plain text", what,
                  printable(text), byte);
    }
  }
  if (!utf8_is_valid(text)) {
    return fail(ErrorCode::bad_file, "{} '{}' is not valid UTF-8", what, printable(text));
  }
  return {};
}

std::string join(std::span<const uint64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += fmt::format("{}{}", i == 0 ? "" : ",", dims[i]);
  return out + "]";
}

}  // namespace

Result<void> check_key(std::string_view key) {
  return check_text("a metadata key", key, kMaxKeyBytes);
}

Result<void> check_tensor_name(std::string_view name) {
  return check_text("a tensor name", name, kMaxTensorNameBytes);
}

Result<void> check_alignment(uint64_t alignment) {
  if (alignment == 0 || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    return fail(ErrorCode::bad_file, "key '{}': found {}, expected a power of two from 1 to {}", kAlignmentKey,
                alignment, kMaxAlignment);
  }
  return {};
}

Result<TensorSize> check_tensor(std::string_view name, uint32_t type_id, std::span<const uint64_t> dims) {
  const auto who = [&] { return fmt::format("tensor '{}'", printable(name)); };
  if (dims.empty() || dims.size() > kMaxDims) {
    return fail(ErrorCode::bad_file, "{}: {} dimensions, expected 1 to {}", who(), dims.size(), kMaxDims);
  }
  const DTypeInfo* type = find_dtype(type_id);
  if (type == nullptr) {
    for (const DeadType& dead : kDeadTypes) {
      if (dead.id == type_id) return fail(ErrorCode::unsupported, "{}: type id {} is {}", who(), type_id, dead.what);
    }
    return fail(ErrorCode::unsupported, "{}: type id {} is no type that this version knows (it knows ids up to {})",
                who(), type_id, kDTypeIdEnd - 1);
  }
  // Elements stay below 2^63 and bytes below 2^64: a block is at most 8 bytes an element.
  uint64_t n_elems = 1;
  for (const uint64_t dim : dims) {
    if (dim == 0 || dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return fail(ErrorCode::bad_file, "{}: shape {}, expected every dimension from 1 to 2^63 - 1", who(), join(dims));
    }
    if (__builtin_mul_overflow(n_elems, dim, &n_elems) ||
        n_elems > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return fail(ErrorCode::bad_file, "{}: shape {} has 2^63 elements or more", who(), join(dims));
    }
  }
  if (dims[0] % type->block_elems != 0) {
    return fail(ErrorCode::bad_file, "{}: rows of {} elements, but {} comes in blocks of {}", who(), dims[0],
                type->name, type->block_elems);
  }
  uint64_t n_bytes = 0;
  if (__builtin_mul_overflow(n_elems / type->block_elems, uint64_t{type->block_bytes}, &n_bytes)) {
    return fail(ErrorCode::bad_file, "{}: shape {} of {} has 2^64 bytes or more", who(), join(dims), type->name);
  }
  return TensorSize{.dtype = type->id, .n_elems = n_elems, .n_bytes = n_bytes};
}

uint32_t natural_alignment(DType type) {
  const DTypeInfo& t = info(type);
  if (t.block_elems == 1) return t.block_bytes;
  // Blocks of an even size hold 16-bit scales; those of an odd size (mxfp4) and nvfp4 are bytes throughout.
  return t.block_bytes % 2 == 0 && type != DType::nvfp4 ? 2 : 1;
}

}  // namespace ridge::gguf
