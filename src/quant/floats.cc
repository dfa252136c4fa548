// Decoder and encoder of f32, f16 and bf16; layout, formula and source of truth are in the header.
#include "quant/floats.h"

#include <cstring>

#include "tensor/dtype.h"

namespace ridge::quant {

void decode_f32(const std::byte* blocks, float* out, int64_t n_elems) {
  if (n_elems > 0) std::memcpy(out, blocks, static_cast<size_t>(n_elems) * sizeof(float));
}

void encode_f32(const float* in, std::byte* blocks, int64_t n_elems) {
  if (n_elems > 0) std::memcpy(blocks, in, static_cast<size_t>(n_elems) * sizeof(float));
}

void decode_f16(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockF16*>(blocks);
  for (int64_t i = 0; i < n_elems; ++i) out[i] = f32_from_f16(block[i].bits);
}

void encode_f16(const float* in, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockF16*>(blocks);
  for (int64_t i = 0; i < n_elems; ++i) block[i].bits = f16_from_f32(in[i]);
}

void decode_bf16(const std::byte* blocks, float* out, int64_t n_elems) {
  const auto* block = reinterpret_cast<const BlockBF16*>(blocks);
  for (int64_t i = 0; i < n_elems; ++i) out[i] = f32_from_bf16(block[i].bits);
}

void encode_bf16(const float* in, std::byte* blocks, int64_t n_elems) {
  auto* block = reinterpret_cast<BlockBF16*>(blocks);
  for (int64_t i = 0; i < n_elems; ++i) block[i].bits = bf16_from_f32(in[i]);
}

}  // namespace ridge::quant
