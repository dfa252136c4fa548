// Builds GGUF bytes for tests, right or wrong: nothing is checked and every number can be lied about. Independent of
// gguf_writer, so that reader and writer are not tested against each other alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::testing {

// Bytes at an address that is a multiple of 16, as a mapping would be; std::string may sit anywhere.
inline std::vector<std::byte> to_bytes(std::string_view s) {
  const auto* p = reinterpret_cast<const std::byte*>(s.data());
  return {p, p + s.size()};
}

template <class T>
std::string le(T x) {
  std::string s(sizeof(T), '\0');
  std::memcpy(s.data(), &x, sizeof(T));
  return s;
}
inline std::string u32(uint32_t x) {
  return le(x);
}
inline std::string u64(uint64_t x) {
  return le(x);
}
inline std::string str(std::string_view s) {
  return u64(s.size()) + std::string(s);
}
inline std::string header(uint64_t n_tensors, uint64_t n_keys, uint32_t version = 3, std::string_view magic = "GGUF") {
  return std::string(magic) + u32(version) + u64(n_tensors) + u64(n_keys);
}
inline std::string kv_raw(std::string_view key, uint32_t type, std::string_view value) {
  return str(key) + u32(type) + std::string(value);
}
inline std::string kv_u32(std::string_view key, uint32_t x) {
  return kv_raw(key, 4, u32(x));
}
inline std::string kv_i32(std::string_view key, int32_t x) {
  return kv_raw(key, 5, le(x));
}
inline std::string kv_u16(std::string_view key, uint16_t x) {
  return kv_raw(key, 2, le(x));
}
inline std::string kv_str(std::string_view key, std::string_view s) {
  return kv_raw(key, 8, str(s));
}
inline std::string kv_arr(std::string_view key, uint32_t type, uint64_t n, std::string_view raw) {
  return kv_raw(key, 9, u32(type) + u64(n) + std::string(raw));
}
inline std::string tensor(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type = 0,
                          uint64_t offset = 0) {
  std::string s = str(name) + u32(static_cast<uint32_t>(dims.size()));
  for (const uint64_t d : dims) s += u64(d);
  return s + u32(type) + u64(offset);
}
inline std::string padded(std::string s, size_t alignment = 32) {
  s.resize((s.size() + alignment - 1) / alignment * alignment, '\0');
  return s;
}
inline std::string data(size_t n) {
  std::string s(n, '\0');
  for (size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * 7 + 1);
  return s;
}

// A small well-formed model file of 3 keys and 2 tensors, the last one padded.
inline std::string tiny_model() {
  return padded(header(2, 3) + kv_str("general.architecture", "llama") + kv_u32("llama.block_count", 1) +
                kv_arr("tokenizer.ggml.tokens", 8, 3, str("a") + str("") + str("bc")) + tensor("a.weight", {4, 2}) +
                tensor("b.weight", {32}, 8, 32)) +
         data(32) + padded(data(34));
}

}  // namespace ridge::testing
