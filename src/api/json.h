// JSON at the door: text to a value under limits, and a reader of an object's fields that refuses with the field's
// name. For the .cc files of src/api only: nlohmann's header is slow to compile.
// Refuses: what is no JSON, a value that is no object, nesting beyond kMaxDepth, numbers beyond a double.
// Thread-safety: plain values.
#pragma once

#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ridge::api {

using Json = nlohmann::ordered_json;

inline constexpr int kMaxDepth = 64;

// Errors: invalid_argument, with the byte at which the text stops being JSON.
Result<Json> parse_json_object(std::string_view text);
// Bytes that are not UTF-8 become U+FFFD.
std::string dump(const Json& value);
// What a message shows of a value: its text, cut to 40 bytes.
std::string shown(const Json& value);

// Reads the fields of one object into variables. An absent field, and null, leaves the variable as it is. The first
// error stays and the rest is skipped. A message about a field begins with its name in quotes (see field_of()).
class Fields {
 public:
  explicit Fields(const Json& object, std::string prefix = {}) : object_(object), prefix_(std::move(prefix)) {}

  void boolean(std::string_view name, bool& target);
  void integer(std::string_view name, int32_t& target, int32_t min, int32_t max);
  void text(std::string_view name, std::string& target);
  // One text or an array of texts.
  void texts(std::string_view name, std::vector<std::string>& target, size_t max);
  // An array of token ids; false when the field is absent.
  bool tokens(std::string_view name, std::vector<int32_t>& target);
  // nullptr where the field is absent or null, or after an error.
  const Json* value(std::string_view name) const;
  // An error unless the field is absent, null, false, "", [], {}, or one of the values that mean the same.
  void refuse(std::string_view name, std::string_view why, std::initializer_list<Json> neutral = {});

  void error(std::string_view name, std::string_view problem);
  void keep(Result<void> result);
  bool ok() const { return !error_; }
  Result<void> done() const;

 private:
  const Json& object_;
  std::string prefix_;  // "stream_options."
  std::optional<Error> error_;
};

// The ids of an array. Errors: invalid_argument.
Result<std::vector<int32_t>> token_ids(const Json& array, std::string_view name);

}  // namespace ridge::api
