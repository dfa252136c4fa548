// The Attention verb: online softmax over the cache's blocks of 32 positions.
//
// Work is cut into (sequence, KV head, tile of query rows); the query heads of a KV head's group are rows of the same
// tile, so that a block of keys and values is unpacked once for all of them. A row's blocks run upwards from the first
// that it may see (its own matter, not its tile's), every product is the matmul tile's fixed-order sum, and positions
// outside the row's range take no part: its bits are the same however the prompt was cut and whoever shares the batch.
#include <algorithm>
#include <cmath>

#include "backend/cpu/step.h"

namespace ridge::cpu {
namespace {

constexpr int32_t kBlock = kKvBlockPositions;

struct Range {
  int32_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// 32 positions of one KV head as floats.
struct HeadBlock {
  const float* data;
  int64_t stride;
};

class HeadAttention {
 public:
  HeadAttention(const Step& s, const Worker& w, const verb::Attention& v)
      : s_(s),
        v_(v),
        kv_(s.program->input.kv[static_cast<size_t>(v.layer)]),
        group_(v.n_head / kv_.n_kv_head),
        unpack_k_(*s.kernels, kv_.k_type),
        unpack_v_(*s.kernels, kv_.v_type),
        keys_(w.scratch),
        values_(keys_ + int64_t{kBlock} * kMaxHeadDim),
        sums_(values_ + int64_t{kBlock} * kMaxHeadDim),
        scores_(sums_ + kTileFloats) {
    tile_rows_ = static_cast<int32_t>(std::clamp<int64_t>(kTileFloats / kv_.v_dim, 1, kMaxQueryRows));
  }

  int32_t n_tiles(const SeqSpan& span) const { return (span.n_rows * group_ + tile_rows_ - 1) / tile_rows_; }

  // Query rows are numbered token by token, the group's heads inside a token.
  void run_tile(const SeqSpan& span, int32_t kv_head, int32_t tile) {
    const int32_t first = tile * tile_rows_;
    n_ = std::min(tile_rows_, span.n_rows * group_ - first);
    for (int32_t i = 0; i < n_; ++i) start_row(span, kv_head, first + i, i);
    std::fill(sums_, sums_ + int64_t{n_} * kv_.v_dim, 0.0f);
    // Rows ascend by position, and so do the ends of what they see.
    const Range seen = {lowest_[0], highest_[n_ - 1] + 1};
    for (int32_t b = seen.begin / kBlock; b * kBlock < seen.end; ++b) {
      run_block(span.blocks[static_cast<size_t>(b)], kv_head, b * kBlock, seen);
    }
    for (int32_t i = 0; i < n_; ++i) {
      const float* sum = sums_ + int64_t{i} * kv_.v_dim;
      s_.kernels->map.scale(sum, 1.0f / state_[i].l, out_[i], kv_.v_dim);
    }
  }

 private:
  void start_row(const SeqSpan& span, int32_t kv_head, int32_t pair, int32_t i) {
    const int32_t token = pair / group_, head = kv_head * group_ + pair % group_, pos = span.pos0 + token;
    q_[i] = s_.row(v_.q, span.row0 + token) + int64_t{head} * kv_.k_dim;
    out_[i] = s_.row(v_.out, span.row0 + token) + int64_t{head} * kv_.v_dim;
    lowest_[i] = v_.window > 0 ? std::max(0, pos - v_.window + 1) : 0;
    highest_[i] = pos;
    double scale = double{v_.scale};
    if (v_.temperature_scale > 0) {
      scale *= 1.0 + double{v_.temperature_scale} * std::log(1.0 + std::floor(1.0 * pos / v_.temperature_length));
    }
    scale_[i] = static_cast<float>(scale);
    // A sink is a position without a value: it opens the softmax.
    state_[i] = v_.sinks != nullptr ? SoftmaxState{floats_of(*v_.sinks)[head], 1.0f} : SoftmaxState{-INFINITY, 0.0f};
  }

  HeadBlock load(const Unpacker& unpack, DType type, const std::byte* first_row, size_t row_size, int32_t head,
                 int32_t dim, Range positions, float* buffer) const {
    const std::byte* at = first_row + row_bytes(type, int64_t{head} * dim);
    if (type == DType::f32) return {reinterpret_cast<const float*>(at), static_cast<int64_t>(row_size / sizeof(float))};
    for (int32_t j = positions.begin; j < positions.end; ++j) {
      unpack(at + static_cast<size_t>(j) * row_size, dim, buffer + int64_t{j} * dim);
    }
    return {buffer, dim};
  }

  void run_block(int32_t block, int32_t kv_head, int32_t pos0, Range seen) {
    const Range used = {std::max(0, seen.begin - pos0), std::min(kBlock, seen.end - pos0)};
    const HeadBlock k =
        load(unpack_k_, kv_.k_type, kv_.k_row(block, 0), kv_.k_row_bytes(), kv_head, kv_.k_dim, used, keys_);
    // Whole row tiles: what the last positions hold does not matter, their scores are cut off.
    const int32_t rows = std::min(kBlock, (used.end + 3) / 4 * 4);
    float* y[kMaxQueryRows];
    for (int32_t i = 0; i < n_; ++i) y[i] = scores_ + i * kBlock;
    static_assert(kMaxHeadDim <= kSumChunk, "a head is one chunk of the sum");
    s_.kernels->matmul.tile({k.data, k.stride, rows}, kv_.k_dim, q_, y, n_, true);

    const HeadBlock v =
        load(unpack_v_, kv_.v_type, kv_.v_row(block, 0), kv_.v_row_bytes(), kv_head, kv_.v_dim, used, values_);
    for (int32_t i = 0; i < n_;) {
      const Range range = row_range(i, pos0);
      int32_t end = i;
      for (; end < n_ && row_range(end, pos0) == range; ++end) {
        if (range.begin >= range.end) continue;
        decay_[end] = s_.kernels->attention.softmax_block(y[end], range.begin, range.end, {scale_[end], v_.softcap},
                                                          &state_[end]);
      }
      if (range.begin < range.end) {
        s_.kernels->attention.add_values(y[i], decay_ + i, end - i, v.data, v.stride, range.begin, range.end, kv_.v_dim,
                                         sums_ + int64_t{i} * kv_.v_dim);
      }
      i = end;
    }
  }

  // The positions of a block that row i may see; all empty ranges are equal.
  Range row_range(int32_t i, int32_t pos0) const {
    const Range r = {std::max(0, lowest_[i] - pos0), std::min(kBlock, highest_[i] + 1 - pos0)};
    return r.begin < r.end ? r : Range{};
  }

  const Step& s_;
  const verb::Attention& v_;
  const KvLayer& kv_;
  int32_t group_, tile_rows_ = 1, n_ = 0;
  Unpacker unpack_k_, unpack_v_;
  float *keys_, *values_, *sums_, *scores_;
  const float* q_[kMaxQueryRows] = {};
  float* out_[kMaxQueryRows] = {};
  int32_t lowest_[kMaxQueryRows] = {}, highest_[kMaxQueryRows] = {};
  float scale_[kMaxQueryRows] = {}, decay_[kMaxQueryRows] = {};
  SoftmaxState state_[kMaxQueryRows] = {};
};

}  // namespace

void run_verb(const Step& s, const Worker& w, const verb::Attention& v) {
  HeadAttention heads(s, w, v);
  const int32_t n_kv_head = s.program->input.kv[static_cast<size_t>(v.layer)].n_kv_head;
  int32_t first_item = 0, item = w.take();
  for (const SeqSpan& span : s.program->input.seqs) {
    const int32_t tiles = heads.n_tiles(span), n_items = tiles * n_kv_head;
    for (; item < first_item + n_items; item = w.take()) {
      const int32_t i = item - first_item;
      // Late tiles see the most positions: they go first, so that the short ones even out the end.
      heads.run_tile(span, i % n_kv_head, tiles - 1 - i / n_kv_head);
    }
    first_item += n_items;
  }
}

}  // namespace ridge::cpu
