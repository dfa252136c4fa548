// The memory ledger: every allocation that matters has an owner. A program has one ledger an Engine; tests may make
// their own.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/result.h"

namespace ridge {

enum class MemoryOwner : uint8_t {
  weights_mapped,    // pages of the model file, mapped; detail = format
  weights_prepared,  // copies in another layout; detail = format
  kv,                // detail = K or V type
  activations,
  logits,
  tokenizer,
  runtime,  // thread stacks, step plans, queues
  request,  // tokens, text and events of requests
};
inline constexpr int kMemoryOwnerCount = 8;
std::string_view to_string(MemoryOwner owner);

class MemoryLedger {
 public:
  struct Line {
    MemoryOwner owner;
    std::string detail;
    uint64_t current_bytes = 0, peak_bytes = 0;
  };
  void add(MemoryOwner owner, std::string_view detail, uint64_t n_bytes);
  void remove(MemoryOwner owner, std::string_view detail, uint64_t n_bytes);
  std::vector<Line> lines() const;  // sorted by owner, then detail
  uint64_t total_bytes() const;

 private:
  mutable std::mutex mutex_;  // any thread; never taken inside a step
  std::map<std::pair<MemoryOwner, std::string>, Line, std::less<>> lines_;
};

// A buffer that stands in the ledger from allocation to destruction. The ledger outlives it.
class TaggedBuffer {
 public:
  TaggedBuffer() = default;
  TaggedBuffer(TaggedBuffer&& o) noexcept;
  TaggedBuffer& operator=(TaggedBuffer&& o) noexcept;
  ~TaggedBuffer();
  static Result<TaggedBuffer> allocate(MemoryLedger& ledger, MemoryOwner owner, std::string_view detail,
                                       size_t n_bytes);
  std::byte* data() const { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }
  template <class T>
  T* as() const {
    return buffer_.as<T>();
  }

 private:
  AlignedBuffer buffer_;
  MemoryLedger* ledger_ = nullptr;
  MemoryOwner owner_ = MemoryOwner::runtime;
  std::string detail_;
};

// What the operating system says of this process (smaps_rollup, status), in bytes; 0 where it does not say.
struct OsMemory {
  uint64_t rss_bytes = 0, pss_bytes = 0, anonymous_bytes = 0, file_bytes = 0, peak_rss_bytes = 0;
};
OsMemory os_memory();

}  // namespace ridge
