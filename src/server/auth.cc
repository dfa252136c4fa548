#include "server/auth.h"

#include <algorithm>

namespace ridge::server {
namespace {

// Looks at every byte of the offered key, whatever the first difference is. The length of a key is no secret.
bool same_key(std::string_view offered, std::string_view key) {
  unsigned difference = offered.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < offered.size(); ++i) {
    const char expected = key.empty() ? '\0' : key[i % key.size()];
    difference |= static_cast<unsigned char>(offered[i]) ^ static_cast<unsigned char>(expected);
  }
  return difference == 0;
}

std::string_view offered_key(const HttpRequest& r) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view a = r.authorization;
  const auto is_same = [](char x, char y) { return (x | 0x20) == y; };
  if (a.size() > kBearer.size() && std::equal(kBearer.begin(), kBearer.end(), a.begin(),
                                              [&](char y, char x) { return y == ' ' ? x == ' ' : is_same(x, y); })) {
    return a.substr(kBearer.size());
  }
  return r.x_api_key;
}

}  // namespace

bool KeyRing::allows(const HttpRequest& request) const {
  if (keys_.empty()) return true;
  const std::string_view offered = offered_key(request);
  if (offered.empty()) return false;
  bool found = false;
  for (const std::string& key : keys_) found |= same_key(offered, key);  // all of them, always
  return found;
}

}  // namespace ridge::server
