// SHA-256 of texts and files, in hexadecimal: how records name what went into a run. Any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ridge::record {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();  // 64 digits; the object is used up

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string sha256_hex(std::string_view bytes);
// Errors: not_found, io.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace ridge::record
