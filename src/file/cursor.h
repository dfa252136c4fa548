// A checked cursor over bytes that nobody vouches for, and a view of packed numbers in them.
// Everything in file/ reads its input through these two; each read first compares what it wants with what is left, and
// the comparison cannot overflow. A read that fails says so, consumes nothing, and leaves the message to the caller,
// who knows the name.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace ridge {

// Model files are little-endian and their tensors are used where they lie, so the machine has to be little-endian too.
static_assert(std::endian::native == std::endian::little,
              "Ridge maps little-endian files and computes on them in place");

// n values of T in bytes that need not be aligned for T. Trivially copyable; the bytes outlive it.
template <class T>
class PackedArray {
  static_assert(std::is_arithmetic_v<T>);

 public:
  using value_type = T;
  PackedArray() = default;
  explicit PackedArray(std::span<const std::byte> bytes) : bytes_(bytes) {
    assert(bytes.size() % sizeof(T) == 0 && "a packed array holds whole values");
  }
  static PackedArray of(std::span<const T> values) { return PackedArray(std::as_bytes(values)); }

  size_t size() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return bytes_.empty(); }
  T operator[](size_t i) const {
    assert(i < size());
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  template <class T>
  [[nodiscard]] bool read(T& out) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                  "a bool is a byte whose value has to be checked");
    if (remaining() < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  [[nodiscard]] bool read_bytes(uint64_t n, std::span<const std::byte>& out) {
    if (n > remaining()) return false;
    out = bytes_.subspan(position_, static_cast<size_t>(n));
    position_ += static_cast<size_t>(n);
    return true;
  }

  [[nodiscard]] bool read_chars(uint64_t n, std::string_view& out) {
    std::span<const std::byte> raw;
    if (!read_bytes(n, raw)) return false;
    out = {reinterpret_cast<const char*>(raw.data()), raw.size()};
    return true;
  }

  // n values of T. The division keeps a hostile n from overflowing the product.
  template <class T>
  [[nodiscard]] bool read_array(uint64_t n, PackedArray<T>& out) {
    if (n > remaining() / sizeof(T)) return false;
    out = PackedArray<T>(bytes_.subspan(position_, static_cast<size_t>(n) * sizeof(T)));
    position_ += static_cast<size_t>(n) * sizeof(T);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

}  // namespace ridge
