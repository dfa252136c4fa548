// Writes a GGUF file, at once or as a stream: metadata of every type in the order given, tensors in the order given,
// packed at the alignment. Owns nothing that it writes: keys, strings, arrays and tensor data outlive the writer.
// Refuses what the reader would refuse (gguf_rules.h). A file read and written back is equal byte for byte, unless it
// has gaps, odd padding or trailing bytes, which are dropped. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"
#include "file/gguf.h"
#include "file/meta_value.h"
#include "tensor/view.h"

namespace ridge {

// A file whose tensor data comes in pieces, as it is made: nothing of it is held in memory. Padding is put in here. The
// file's name keeps what it had until finish(). Not thread-safe.
class GgufStream {
 public:
  // The next bytes of the tensors' data, in order; a piece may end or begin inside a tensor. Errors: io,
  // invalid_argument (more bytes than the tensors have).
  Result<void> write(std::span<const std::byte> bytes);
  // Errors: io, invalid_argument (data is missing).
  Result<void> finish();

 private:
  friend class GgufWriter;
  explicit GgufStream(AtomicFile file) : file_(std::move(file)) {}
  Result<void> pad(uint64_t n_bytes);

  AtomicFile file_;
  uint32_t alignment_ = 1;
  bool pad_end_ = true;
  std::vector<uint64_t> sizes_;  // of the tensors
  size_t tensor_idx_ = 0;
  uint64_t n_written_ = 0;  // of tensor tensor_idx_
};

class GgufWriter {
 public:
  explicit GgufWriter(uint32_t version = gguf::kMaxVersion) : version_(version) {}
  // All of file; a split set becomes one file, without its split.* keys.
  static GgufWriter from(const GgufFile& file);

  // The alignment is what the u32 key general.alignment says, else 32.
  void add(std::string_view key, MetaValue value) { metadata_.push_back({key, std::move(value)}); }
  // tensor.data holds tensor.n_bytes() bytes.
  void add_tensor(const TensorView& tensor) { tensors_.push_back(tensor); }
  // Whether the last byte that matters is followed by padding up to the alignment (default), as llama.cpp writes files
  // that hold tensors.
  void pad_end(bool pad) { pad_end_ = pad; }

  // To path, which keeps what it had until all is written. Errors: io, and those of serialise.
  Result<void> write(const std::filesystem::path& path) const;
  // As write, without the tensors' data (tensor.data is not read): that is handed to the stream. The stream does not
  // need the writer any more. Errors: as write.
  Result<GgufStream> start(const std::filesystem::path& path) const;
  // Into memory. Errors: bad_file, unsupported, limit: what the reader would say of such a file.
  Result<std::vector<std::byte>> serialise() const;

 private:
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;
  Result<uint32_t> alignment() const;
  Result<std::vector<std::byte>> head(uint32_t alignment) const;
  Result<void> emit(const Sink& sink) const;

  uint32_t version_;
  bool pad_end_ = true;
  std::vector<MetaEntry> metadata_;
  std::vector<TensorView> tensors_;
};

}  // namespace ridge
