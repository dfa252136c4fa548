#include "record/document.h"

#include <time.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/clock.h"
#include "record/sha256.h"

namespace ridge::record {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHashes = "hashes", kHash = "hash";

std::string dump(const Json& j, int indent) {
  return j.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// One value, one text: keys sorted, no blanks, numbers in their shortest form.
std::string canonical(const Json& j) {
  return nlohmann::json::parse(dump(j, -1)).dump();
}

constexpr int kMaxDepth = 64;

bool is_deeper_than(std::string_view json, int max_depth) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > max_depth) return true;
  }
  return false;
}

FieldHashes hash_fields(const Json& doc) {
  FieldHashes hashes;
  for (const auto& [name, value] : doc.items()) {
    if (name != kHashes && name != kHash) hashes[name] = sha256_hex(canonical(value));
  }
  return hashes;
}

// Two runs of one moment on one machine still differ: by process and by the system's own noise.
std::string new_id() {
  std::random_device noise;
  return sha256_hex(fmt::format("{} {} {} {}", utc_now(), now_ns(), getpid(), noise())).substr(0, 16);
}

}  // namespace

std::string utc_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
}

std::string hash_of_fields(const FieldHashes& fields) {
  std::string text;
  for (const auto& [name, hash] : fields) text += name + ":" + hash + "\n";
  return sha256_hex(text);
}

Sealed seal(Json fields) {
  Sealed s{.id = new_id(), .json = {}, .hash = {}, .fields = {}};
  Json doc = {{"schema", kRecordSchema}, {"id", s.id}, {"created_utc", utc_now()}};
  for (auto& [name, value] : fields.items()) doc[name] = std::move(value);
  s.fields = hash_fields(doc);
  s.hash = hash_of_fields(s.fields);
  doc[std::string(kHashes)] = s.fields;
  doc[std::string(kHash)] = s.hash;
  s.json = dump(doc, 1) + "\n";
  return s;
}

Result<Sealed> read_sealed(std::string json) {
  if (json.size() > kMaxRecordBytes)
    return fail(ErrorCode::limit, "a record of {} bytes, at most {}", json.size(), kMaxRecordBytes);
  // Before anything that recurses on the value sees it. The library speaks in exceptions; they end here.
  if (is_deeper_than(json, kMaxDepth)) return fail(ErrorCode::limit, "a record with more than {} levels", kMaxDepth);
  try {
    const Json doc = Json::parse(json);
    if (!doc.is_object()) return fail(ErrorCode::bad_file, "not a record: found no JSON object");
    const auto text = [&](const char* key) {
      const auto at = doc.find(key);
      return at != doc.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    if (text("schema") != kRecordSchema)
      return fail(ErrorCode::bad_file, "not a record: schema '{}', expected '{}'", text("schema"), kRecordSchema);
    if (text("id").empty()) return fail(ErrorCode::bad_file, "not a record: it has no id");
    Sealed s{.id = text("id"), .json = {}, .hash = {}, .fields = hash_fields(doc)};
    s.hash = hash_of_fields(s.fields);
    s.json = std::move(json);
    return s;
  } catch (const std::exception& e) {
    return fail(ErrorCode::bad_file, "not a record: {}", e.what());
  }
}

std::string Fault::sentence() const {
  const auto brief = [](const std::string& hash) { return hash.empty() ? "nothing" : hash.substr(0, 16) + "..."; };
  return fmt::format("record {}: {} was changed: its SHA-256 is {}, sealed as {}", id,
                     field.empty() ? std::string("the document") : fmt::format("field '{}'", field), brief(found),
                     brief(expected));
}

std::vector<Fault> compare_fields(const std::string& id, const FieldHashes& found, const FieldHashes& expected) {
  std::vector<Fault> faults;
  for (const auto& [name, hash] : expected) {
    const auto at = found.find(name);
    const std::string now = at == found.end() ? "" : at->second;
    if (now != hash) faults.push_back({id, name, now, hash});
  }
  for (const auto& [name, hash] : found) {
    if (!expected.contains(name)) faults.push_back({id, name, hash, ""});
  }
  return faults;
}

std::vector<Fault> check_seal(const Sealed& s) {
  FieldHashes said;
  std::string hash;
  try {
    const Json doc = Json::parse(s.json);
    said = doc.at(std::string(kHashes)).get<FieldHashes>();
    hash = doc.at(std::string(kHash)).get<std::string>();
  } catch (const std::exception&) {
    return {{s.id, "hashes", "", s.hash}};
  }
  std::vector<Fault> faults = compare_fields(s.id, s.fields, said);
  if (faults.empty() && hash != s.hash) faults.push_back({s.id, "hash", s.hash, hash});
  return faults;
}

}  // namespace ridge::record
