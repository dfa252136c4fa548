// UTF-8 text that remembers, byte by byte, whether it was written by the template or came from a conversation. The
// tokeniser may recognise control tokens in the first kind only: "<|im_end|>" typed by a user must stay text. Kept as
// the offsets where the origin changes, so text of one origin costs nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge::jinja {

class MarkedText {
 public:
  MarkedText() = default;
  explicit MarkedText(std::string bytes, bool trusted = true) : bytes_(std::move(bytes)) {
    if (!trusted && !bytes_.empty()) flips_.push_back(0);
  }

  const std::string& bytes() const { return bytes_; }
  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  bool all_trusted() const { return flips_.empty(); }
  size_t n_flips() const { return flips_.size(); }

  void reserve(size_t n_bytes) { bytes_.reserve(n_bytes); }

  void append(std::string_view text, bool trusted) {
    if (text.empty()) return;
    turn(trusted);
    bytes_.append(text);
  }

  void append(const MarkedText& other) { append(other, 0, other.size()); }

  // The bytes [from, from + n_bytes) of other; the range must lie inside it.
  void append(const MarkedText& other, size_t from, size_t n_bytes) {
    if (n_bytes == 0) return;
    auto flip = std::upper_bound(other.flips_.begin(), other.flips_.end(), from);
    turn((flip - other.flips_.begin()) % 2 == 0);
    const size_t base = bytes_.size();
    for (; flip != other.flips_.end() && *flip < from + n_bytes; ++flip) {
      flips_.push_back(static_cast<uint32_t>(base + (*flip - from)));
    }
    bytes_.append(other.bytes_, from, n_bytes);
  }

  MarkedText slice(size_t from, size_t n_bytes) const {
    MarkedText out;
    out.append(*this, from, n_bytes);
    return out;
  }

  // f(std::string_view part, bool trusted), in order, each part not empty and of one origin.
  template <class F>
  void for_each_part(F&& f) const {
    size_t at = 0;
    bool trusted = true;
    for (const uint32_t flip : flips_) {
      if (flip > at) f(std::string_view(bytes_).substr(at, flip - at), trusted);
      at = flip;
      trusted = !trusted;
    }
    if (at < bytes_.size()) f(std::string_view(bytes_).substr(at), trusted);
  }

  // Bytes replaced one for one (ASCII case mapping): the origin of each stays.
  void set_byte(size_t at, char c) { bytes_[at] = c; }

 private:
  void turn(bool trusted) {
    if ((flips_.size() % 2 == 0) != trusted) flips_.push_back(static_cast<uint32_t>(bytes_.size()));
  }

  std::string bytes_;
  std::vector<uint32_t> flips_;  // ascending offsets at which the origin changes; text begins trusted
};

}  // namespace ridge::jinja
