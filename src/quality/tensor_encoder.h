// One tensor from its type to another, in pieces, on all threads: decode, search, decode again to see the loss, write.
// The output does not depend on the number of threads. For quality/ only.
#pragma once

#include <functional>
#include <span>

#include "base/thread_pool.h"
#include "file/gguf_writer.h"
#include "tensor/view.h"

namespace ridge::quality {

struct TensorLoss {
  double square_error = 0, square_sum = 0;
};

class TensorEncoder {
 public:
  explicit TensorEncoder(int n_threads) : pool_(n_threads, false) {}

  // importance: ne[0] * ne[2] * ne[3] values, or none. `tell` hears the input bytes done, and stops the job by false.
  // Errors: io, bad_file (a value that is no number), cancelled.
  Result<TensorLoss> run(const TensorView& t, DType to, std::span<const float> importance, GgufStream& out,
                         const std::function<bool(uint64_t n_bytes)>& tell);

 private:
  struct Piece;
  void encode(const TensorView& t, DType to, std::span<const float> importance, Piece& piece, GgufStream& out,
              std::span<const std::byte> previous, Result<void>& written);
  Result<TensorLoss> copy(const TensorView& t, GgufStream& out, const std::function<bool(uint64_t)>& tell);

  ThreadPool pool_;
  std::vector<std::byte> buffers_[2];
};

}  // namespace ridge::quality
