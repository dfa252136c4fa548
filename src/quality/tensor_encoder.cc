#include "quality/tensor_encoder.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/mapped_file.h"
#include "quant/formats.h"

namespace ridge::quality {
namespace {

// Elements that one thread takes at a time: a multiple of every block, 32 KiB of f32, so that what is decoded is still
// in the first cache when it is searched.
constexpr int64_t kUnit = 8192;
// Units of a piece: 16 Mi elements, so that at most two outputs of 64 MiB (f32) are held.
constexpr int64_t kUnitsPerPiece = 2048;
constexpr uint64_t kCopyBytes = 16u << 20;

}  // namespace

// Units are stretches of rows: unit u of a row begins at column u * kUnit.
struct TensorEncoder::Piece {
  int64_t first = 0, n_units = 0, units_per_row = 1;
  std::byte* bytes = nullptr;      // output of this piece
  std::vector<TensorLoss> losses;  // one a unit: added in order, so that the sum does not depend on the threads
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> bad_unit{-1};
};

void TensorEncoder::encode(const TensorView& t, DType to, std::span<const float> importance, Piece& piece,
                           GgufStream& out, std::span<const std::byte> previous, Result<void>& written) {
  const int64_t n_cols = t.ne[0];
  const quant::Format& from = *quant::find_format(t.dtype);
  const quant::Format& into = *quant::find_format(to);
  const size_t row_out = row_bytes(to, n_cols), first_row = static_cast<size_t>(piece.first / piece.units_per_row);
  const size_t first_col = static_cast<size_t>(piece.first % piece.units_per_row * kUnit);
  const size_t origin = first_row * row_out + row_bytes(to, static_cast<int64_t>(first_col));
  pool_.run([&](int idx) {
    // The last piece is written while the others work on this one.
    if (idx == 0 && !previous.empty()) written = out.write(previous);
    alignas(64) float x[kUnit], back[kUnit];
    for (int64_t i = piece.next++; i < piece.n_units; i = piece.next++) {
      const int64_t unit = piece.first + i, row = unit / piece.units_per_row;
      const int64_t col = unit % piece.units_per_row * kUnit, n = std::min(kUnit, n_cols - col);
      from.decode(t.row(row) + row_bytes(t.dtype, col), x, n);
      std::byte* blocks = piece.bytes + (static_cast<size_t>(row) * row_out + row_bytes(to, col) - origin);
      const int64_t expert = row / t.ne[1];
      const float* weight = importance.empty() ? nullptr : importance.data() + expert * n_cols + col;
      if (into.quantise != nullptr) {
        into.quantise(x, weight, blocks, n);
      } else {
        into.encode(x, blocks, n);
      }
      into.decode(blocks, back, n);
      TensorLoss& loss = piece.losses[static_cast<size_t>(i)];
      for (int64_t k = 0; k < n; ++k) {
        const double off = double{x[k]} - back[k];
        loss.square_error += off * off, loss.square_sum += double{x[k]} * x[k];
      }
      if (!std::isfinite(loss.square_error)) piece.bad_unit = unit;
    }
  });
}

Result<TensorLoss> TensorEncoder::copy(const TensorView& t, GgufStream& out,
                                       const std::function<bool(uint64_t)>& tell) {
  for (uint64_t at = 0; at < t.n_bytes(); at += kCopyBytes) {
    const std::span<const std::byte> piece(t.data + at, static_cast<size_t>(std::min(kCopyBytes, t.n_bytes() - at)));
    RIDGE_CHECK_OK(out.write(piece));
    release_pages(piece);
    if (!tell(at + piece.size())) return fail(ErrorCode::cancelled, "stopped; nothing was left behind");
  }
  return TensorLoss{};
}

Result<TensorLoss> TensorEncoder::run(const TensorView& t, DType to, std::span<const float> importance, GgufStream& out,
                                      const std::function<bool(uint64_t)>& tell) {
  if (t.dtype == to) return copy(t, out, tell);
  Piece piece;
  piece.units_per_row = (t.ne[0] + kUnit - 1) / kUnit;
  const int64_t n_units = piece.units_per_row * t.n_rows();
  TensorLoss total;
  std::span<const std::byte> previous;
  Result<void> written;
  size_t released = 0;
  for (int64_t first = 0; first < n_units; first += piece.n_units) {
    piece.first = first;
    piece.n_units = std::min(kUnitsPerPiece, n_units - first);
    piece.next = 0;
    piece.losses.assign(static_cast<size_t>(piece.n_units), {});
    // Where a unit begins among the tensor's bytes, of either type.
    const auto place = [&](DType type, int64_t unit) {
      const int64_t row = unit / piece.units_per_row;
      return static_cast<size_t>(row) * row_bytes(type, t.ne[0]) + row_bytes(type, unit % piece.units_per_row * kUnit);
    };
    std::vector<std::byte>& buffer = buffers_[static_cast<size_t>(first / kUnitsPerPiece % 2)];
    buffer.resize(place(to, first + piece.n_units) - place(to, first));
    piece.bytes = buffer.data();
    encode(t, to, importance, piece, out, previous, written);
    if (!written) return tl::unexpected<Error>(written.error());
    if (piece.bad_unit >= 0) {
      return fail(ErrorCode::bad_file, "tensor '{}', row {}: holds NaN or infinity, or a value that {} cannot hold",
                  t.name, piece.bad_unit / piece.units_per_row, info(to).name);
    }
    for (const TensorLoss& l : piece.losses) total.square_error += l.square_error, total.square_sum += l.square_sum;
    previous = buffer;
    const size_t n_read = place(t.dtype, first + piece.n_units);
    release_pages({t.data + released, n_read - released});
    released = n_read;
    if (!tell(n_read)) return fail(ErrorCode::cancelled, "stopped; nothing was left behind");
  }
  RIDGE_CHECK_OK(out.write(previous));
  return total;
}

}  // namespace ridge::quality
