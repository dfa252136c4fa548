// The table of formats: this file names every format, nothing else does.
#include "quant/formats.h"

#include <array>

#include "quant/floats.h"
#include "quant/iq1_m.h"
#include "quant/iq1_s.h"
#include "quant/iq2_s.h"
#include "quant/iq2_xs.h"
#include "quant/iq2_xxs.h"
#include "quant/iq3_s.h"
#include "quant/iq3_xxs.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/nvfp4.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/tq1_0.h"
#include "quant/tq2_0.h"

namespace ridge::quant {
namespace {

// Of formats that only the search writes.
template <QuantiseFn kQuantise>
void encode_by(const float* in, std::byte* blocks, int64_t n_elems) {
  kQuantise(in, nullptr, blocks, n_elems);
}

template <class Block>
constexpr Format row(DType type, DecodeFn decode, EncodeFn encode = nullptr, QuantiseFn quantise = nullptr) {
  return {type, Block::kElems, sizeof(Block), decode, encode, quantise};
}

constexpr Format kFormats[] = {
    row<BlockF32>(DType::f32, decode_f32, encode_f32),
    row<BlockF16>(DType::f16, decode_f16, encode_f16),
    row<BlockQ4_0>(DType::q4_0, decode_q4_0, encode_q4_0, quantise_q4_0),
    row<BlockQ4_1>(DType::q4_1, decode_q4_1, encode_q4_1, quantise_q4_1),
    row<BlockQ5_0>(DType::q5_0, decode_q5_0, encode_q5_0, quantise_q5_0),
    row<BlockQ5_1>(DType::q5_1, decode_q5_1, encode_q5_1, quantise_q5_1),
    row<BlockQ8_0>(DType::q8_0, decode_q8_0, encode_q8_0),
    row<BlockQ2K>(DType::q2_k, decode_q2_k, encode_by<quantise_q2_k>, quantise_q2_k),
    row<BlockQ3K>(DType::q3_k, decode_q3_k, encode_by<quantise_q3_k>, quantise_q3_k),
    row<BlockQ4K>(DType::q4_k, decode_q4_k, encode_by<quantise_q4_k>, quantise_q4_k),
    row<BlockQ5K>(DType::q5_k, decode_q5_k, encode_by<quantise_q5_k>, quantise_q5_k),
    row<BlockQ6K>(DType::q6_k, decode_q6_k, encode_by<quantise_q6_k>, quantise_q6_k),
    row<BlockIQ2XXS>(DType::iq2_xxs, decode_iq2_xxs),
    row<BlockIQ2XS>(DType::iq2_xs, decode_iq2_xs),
    row<BlockIQ3XXS>(DType::iq3_xxs, decode_iq3_xxs),
    row<BlockIQ1S>(DType::iq1_s, decode_iq1_s),
    row<BlockIQ4NL>(DType::iq4_nl, decode_iq4_nl, encode_iq4_nl, quantise_iq4_nl),
    row<BlockIQ3S>(DType::iq3_s, decode_iq3_s),
    row<BlockIQ2S>(DType::iq2_s, decode_iq2_s),
    row<BlockIQ4XS>(DType::iq4_xs, decode_iq4_xs, encode_by<quantise_iq4_xs>, quantise_iq4_xs),
    row<BlockIQ1M>(DType::iq1_m, decode_iq1_m),
    row<BlockBF16>(DType::bf16, decode_bf16, encode_bf16),
    row<BlockTQ1_0>(DType::tq1_0, decode_tq1_0),
    row<BlockTQ2_0>(DType::tq2_0, decode_tq2_0),
    row<BlockMXFP4>(DType::mxfp4, decode_mxfp4, encode_by<quantise_mxfp4>, quantise_mxfp4),
    row<BlockNVFP4>(DType::nvfp4, decode_nvfp4),
    row<BlockQ1_0>(DType::q1_0, decode_q1_0),
    row<BlockQ2_0>(DType::q2_0, decode_q2_0),
};

constexpr std::array<int8_t, kDTypeIdEnd> make_index() {
  std::array<int8_t, kDTypeIdEnd> index{};
  for (auto& i : index) i = -1;
  int8_t n = 0;
  for (const Format& f : kFormats) index[static_cast<uint32_t>(f.type)] = n++;
  return index;
}
constexpr auto kIndex = make_index();

std::string type_text(DType type) {
  const DTypeInfo* known = find_dtype(static_cast<uint32_t>(type));
  return known != nullptr ? std::string(known->name) : fmt::format("id {}", static_cast<uint32_t>(type));
}

Result<void> check_length(const Format& format, int64_t n_elems) {
  if (n_elems >= 0 && n_elems % format.block_elems == 0) return {};
  return fail(ErrorCode::invalid_argument, "{} elements of {}: expected 0 or more, a multiple of its block of {}",
              n_elems, format.name(), format.block_elems);
}

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(DType type) {
  const auto id = static_cast<uint32_t>(type);
  if (id >= kDTypeIdEnd || kIndex[id] < 0) return nullptr;
  return &kFormats[kIndex[id]];
}

Result<void> decode_row(DType type, const std::byte* blocks, float* out, int64_t n_elems) {
  const Format* format = find_format(type);
  if (format == nullptr) {
    return fail(ErrorCode::unsupported,
                "type {} does not decode to real numbers; expected a weight format such as f16 or q8_0",
                type_text(type));
  }
  RIDGE_CHECK_OK(check_length(*format, n_elems));
  format->decode(blocks, out, n_elems);
  return {};
}

Result<void> encode_row(DType type, const float* in, std::byte* blocks, int64_t n_elems) {
  const Format* format = find_format(type);
  if (format == nullptr || format->encode == nullptr) {
    return fail(ErrorCode::unsupported,
                "type {} has no encoder here; use f32, f16, bf16, q8_0, mxfp4, iq4_nl, iq4_xs or one of q2_K to q6_K",
                type_text(type));
  }
  RIDGE_CHECK_OK(check_length(*format, n_elems));
  format->encode(in, blocks, n_elems);
  return {};
}

Result<void> quantise_row(DType type, const float* in, const float* importance, std::byte* blocks, int64_t n_elems) {
  const Format* format = find_format(type);
  if (format == nullptr || format->quantise == nullptr) return encode_row(type, in, blocks, n_elems);
  RIDGE_CHECK_OK(check_length(*format, n_elems));
  format->quantise(in, importance, blocks, n_elems);
  return {};
}

}  // namespace ridge::quant
