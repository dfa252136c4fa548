// API keys. Refuses what is no key of the list, in a time that does not depend on where two keys differ.
// Thread-safety: immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"

namespace ridge::server {

class KeyRing {
 public:
  explicit KeyRing(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  // `Authorization: Bearer KEY` or `X-Api-Key: KEY`.
  bool allows(const HttpRequest& request) const;
  bool empty() const { return keys_.empty(); }

 private:
  std::vector<std::string> keys_;
};

}  // namespace ridge::server
