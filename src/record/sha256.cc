// OpenSSL does the arithmetic: it uses the SHA instructions of the processor, and a model is gigabytes.
#include "record/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace ridge::record {

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  [[maybe_unused]] const int ok = EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr);
  assert(ok == 1 && "SHA-256 is in every OpenSSL");
}
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  EVP_DigestFinal_ex(impl_->context, digest.data(), nullptr);
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io, "'{}': cannot read: {}", path.string(),
                std::strerror(errno));
  }
  Sha256 hash;
  std::vector<char> chunk(1 << 20);
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    hash.add({chunk.data(), static_cast<size_t>(in.gcount())});
  }
  if (in.bad()) return fail(ErrorCode::io, "'{}': cannot read", path.string());
  return hash.hex();
}

}  // namespace ridge::record
