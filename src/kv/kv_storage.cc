#include "kv/kv_storage.h"

#include <cassert>

namespace ridge {
namespace {

constexpr DType kAllowed[] = {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0};

std::string allowed_names() {
  std::string names;
  for (DType t : kAllowed) names += fmt::format("{}{}", names.empty() ? "" : ", ", info(t).name);
  return names;
}

Result<void> check_one(std::string_view which, DType type, int32_t head_dim, size_t layer) {
  bool allowed = false;
  for (DType t : kAllowed) allowed |= t == type;
  if (!allowed) {
    return fail(ErrorCode::unsupported, "KV cache type {} for {}: it must be one of {}", info(type).name, which,
                allowed_names());
  }
  const uint32_t block = info(type).block_elems;
  if (head_dim % static_cast<int32_t>(block) != 0) {
    return fail(ErrorCode::unsupported,
                "KV cache type {} for {}: it packs {} values a block, and layer {} has a head_dim of {}, which is no "
                "multiple of {}; "
                "use f16, bf16 or f32 for it",
                info(type).name, which, block, layer, head_dim, block);
  }
  return {};
}

tl::unexpected<Error> no_memory(size_t n_positions, const KvBytes& predicted, const Error& error) {
  return fail(ErrorCode::out_of_memory, "no memory for a KV cache of {} positions, {} bytes of K and {} of V: {}",
              n_positions, predicted.k, predicted.v, error.message);
}

}  // namespace

std::span<const DType> kv_types() {
  return kAllowed;
}

Result<DType> parse_kv_type(std::string_view text) {
  const auto type = dtype_from_name(text);
  for (DType t : kAllowed) {
    if (type == t) return t;
  }
  return fail(ErrorCode::invalid_argument, "KV cache type '{}': it must be one of {}", text, allowed_names());
}

Result<void> check_kv_types(std::span<const LayerState> layers, KvTypes types) {
  for (size_t i = 0; i < layers.size(); ++i) {
    RIDGE_CHECK_OK(check_one("K", types.k, layers[i].k_dim, i));
    RIDGE_CHECK_OK(check_one("V", types.v, layers[i].v_dim, i));
  }
  return {};
}

Result<KvBytes> predict_kv_bytes(std::span<const LayerState> layers, KvTypes types, int64_t n_blocks) {
  assert(n_blocks >= 0);
  constexpr uint64_t kMost = uint64_t{1} << 63;
  const uint64_t n_positions = static_cast<uint64_t>(n_blocks) * kKvBlockPositions;
  KvBytes sum;
  for (const LayerState& l : layers) {
    const uint64_t k = row_bytes(types.k, int64_t{l.n_kv_head} * l.k_dim),
                   v = row_bytes(types.v, int64_t{l.n_kv_head} * l.v_dim);
    uint64_t k_bytes = 0, v_bytes = 0;
    if (__builtin_mul_overflow(k, n_positions, &k_bytes) || __builtin_mul_overflow(v, n_positions, &v_bytes) ||
        k_bytes >= kMost || v_bytes >= kMost || __builtin_add_overflow(sum.k, k_bytes, &sum.k) ||
        __builtin_add_overflow(sum.v, v_bytes, &sum.v) || sum.k >= kMost || sum.v >= kMost - sum.k) {
      return fail(ErrorCode::limit, "a KV cache of {} positions has more than 2^63 bytes; ask for a smaller context",
                  n_positions);
    }
  }
  return sum;
}

Result<KvStorage> KvStorage::allocate(MemoryLedger& ledger, std::span<const LayerState> layers, KvTypes types,
                                      int32_t n_blocks) {
  RIDGE_CHECK_OK(check_kv_types(layers, types));
  RIDGE_TRY(const KvBytes predicted, predict_kv_bytes(layers, types, n_blocks));
  KvStorage storage;
  storage.n_blocks_ = n_blocks;
  storage.types_ = types;
  storage.buffers_.reserve(layers.size() * 2);
  storage.layers_.reserve(layers.size());
  const std::string k_detail = fmt::format("K {}", info(types.k).name),
                    v_detail = fmt::format("V {}", info(types.v).name);
  const size_t n_positions = static_cast<size_t>(n_blocks) * kKvBlockPositions;
  for (const LayerState& l : layers) {
    KvLayer kv{.k_type = types.k, .v_type = types.v, .n_kv_head = l.n_kv_head, .k_dim = l.k_dim, .v_dim = l.v_dim};
    auto k = TaggedBuffer::allocate(ledger, MemoryOwner::kv, k_detail, n_positions * kv.k_row_bytes());
    if (!k) return no_memory(n_positions, predicted, k.error());
    auto v = TaggedBuffer::allocate(ledger, MemoryOwner::kv, v_detail, n_positions * kv.v_row_bytes());
    if (!v) return no_memory(n_positions, predicted, v.error());
    kv.k = k->data();
    kv.v = v->data();
    storage.buffers_.push_back(std::move(*k));
    storage.buffers_.push_back(std::move(*v));
    storage.layers_.push_back(kv);
  }
  return storage;
}

}  // namespace ridge
