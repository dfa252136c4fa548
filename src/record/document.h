// A record: what one run was, did and measured, as one JSON document (docs/record.schema.json). Sealed once, never
// changed afterwards: every field has a hash, and one hash covers them all. Prompts and answers are not in it, only
// their hashes and lengths. Plain values, any thread.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ridge::record {

inline constexpr std::string_view kRecordSchema = "ridge-record/1";
inline constexpr size_t kMaxRecordBytes = size_t{64} << 20;

// Hash of each top-level field but the hashes themselves, by name.
using FieldHashes = std::map<std::string, std::string, std::less<>>;

struct Sealed {
  std::string id;  // 16 hexadecimal digits
  std::string json;
  std::string hash;  // of the document: over the names and hashes of its fields
  FieldHashes fields;
};

// Adds schema, id, created_utc, hashes and hash to the fields of a run.
Sealed seal(nlohmann::ordered_json fields);
// Hashes as they are for this text, whatever it says of itself. Errors: bad_file (no JSON object, no id, another
// schema), limit (kMaxRecordBytes).
Result<Sealed> read_sealed(std::string json);

// Where a text is not what was sealed.
struct Fault {
  std::string id, field, found, expected;  // hashes; a field that is missing or added has an empty one
  std::string sentence() const;
};
// The fields whose hashes are not those in the document itself; then the document's own hash. Empty: unchanged.
std::vector<Fault> check_seal(const Sealed& sealed);
std::vector<Fault> compare_fields(const std::string& id, const FieldHashes& found, const FieldHashes& expected);

std::string hash_of_fields(const FieldHashes& fields);
// "2026-01-31T12:00:00.123Z"
std::string utc_now();

}  // namespace ridge::record
