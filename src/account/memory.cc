#include "account/memory.h"

#include <algorithm>
#include <cassert>
#include <fstream>
#include <sstream>
#include <utility>

namespace ridge {

std::string_view to_string(MemoryOwner owner) {
  static constexpr std::string_view kNames[kMemoryOwnerCount] = {
      "weights (mapped)", "weights (prepared)", "kv", "activations", "logits", "tokenizer", "runtime", "request"};
  return kNames[static_cast<size_t>(owner)];
}

void MemoryLedger::add(MemoryOwner owner, std::string_view detail, uint64_t n_bytes) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[{owner, std::string(detail)}];
  line.owner = owner;
  line.detail = detail;
  line.current_bytes += n_bytes;
  line.peak_bytes = std::max(line.peak_bytes, line.current_bytes);
}

void MemoryLedger::remove(MemoryOwner owner, std::string_view detail, uint64_t n_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find({owner, std::string(detail)});
  assert(found != lines_.end() && found->second.current_bytes >= n_bytes &&
         "more bytes given back than were taken under this tag");
  found->second.current_bytes -= n_bytes;
}

std::vector<MemoryLedger::Line> MemoryLedger::lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<Line> out;
  for (const auto& [key, line] : lines_) out.push_back(line);
  return out;
}

uint64_t MemoryLedger::total_bytes() const {
  uint64_t sum = 0;
  for (const Line& line : lines()) sum += line.current_bytes;
  return sum;
}

TaggedBuffer::TaggedBuffer(TaggedBuffer&& o) noexcept
    : buffer_(std::move(o.buffer_)),
      ledger_(std::exchange(o.ledger_, nullptr)),
      owner_(o.owner_),
      detail_(std::move(o.detail_)) {}

TaggedBuffer& TaggedBuffer::operator=(TaggedBuffer&& o) noexcept {
  std::swap(buffer_, o.buffer_);
  std::swap(ledger_, o.ledger_);
  std::swap(owner_, o.owner_);
  std::swap(detail_, o.detail_);
  return *this;
}

TaggedBuffer::~TaggedBuffer() {
  if (ledger_ != nullptr) ledger_->remove(owner_, detail_, buffer_.size());
}

Result<TaggedBuffer> TaggedBuffer::allocate(MemoryLedger& ledger, MemoryOwner owner, std::string_view detail,
                                            size_t n_bytes) {
  auto raw = AlignedBuffer::allocate(n_bytes);
  if (!raw) {
    raw.error().message += fmt::format(" ({} {})", to_string(owner), detail);
    return tl::unexpected<Error>(std::move(raw.error()));
  }
  TaggedBuffer b;
  b.buffer_ = std::move(*raw);
  b.ledger_ = &ledger;
  b.owner_ = owner;
  b.detail_ = detail;
  ledger.add(owner, detail, n_bytes);
  return b;
}

OsMemory os_memory() {
  OsMemory m;
  const auto scan = [](const char* path, auto&& take) {
    std::ifstream f(path);
    std::string line;
    while (std::getline(f, line)) {
      std::istringstream s(line);
      std::string key;
      uint64_t kib = 0;
      if (s >> key >> kib) take(key, kib * 1024);
    }
  };
  scan("/proc/self/smaps_rollup", [&](const std::string& key, uint64_t bytes) {
    if (key == "Rss:") m.rss_bytes = bytes;
    if (key == "Pss:") m.pss_bytes = bytes;
    if (key == "Anonymous:") m.anonymous_bytes = bytes;
  });
  scan("/proc/self/status", [&](const std::string& key, uint64_t bytes) {
    if (key == "VmHWM:") m.peak_rss_bytes = bytes;
    if (key == "VmRSS:" && m.rss_bytes == 0) m.rss_bytes = bytes;
    if (key == "RssFile:") m.file_bytes = bytes;
  });
  return m;
}

}  // namespace ridge
