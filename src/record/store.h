// The store of records: one SQLite file, in write-ahead mode, synced at each record, so that what add() has
// acknowledged survives the death of the process or of the machine at any moment. Many processes may write.
// Each record is a link of a chain: a link's hash covers the record's hash and the link before, so that a record that
// was changed, taken away or slipped in shows. (Whoever rewrites the whole chain is found only by a link noted
// elsewhere: verify() gives the last one.) A deleted record leaves its link behind, without its contents.
// One thread an object.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/document.h"

struct sqlite3;

namespace ridge::record {

// What a list shows of a record.
struct RecordHead {
  int64_t seq = 0;
  std::string id, created_utc, command, model, verdict, headline;
};

// Empty fields match everything. model: a part of the name or path; since and until: beginnings of created_utc
// ("2026-11-30"), both inclusive.
struct Filter {
  std::string model = {}, command = {}, verdict = {}, since = {}, until = {};
  int max = 0;  // the newest so many; 0 = all
};

struct Verification {
  std::vector<Fault> faults;
  std::vector<std::string> chain_faults;  // sentences: links that do not fit, records without a link and the like
  size_t n_records = 0, n_deleted = 0;
  std::string last_link;
  bool ok() const { return faults.empty() && chain_faults.empty(); }
};

class Store {
 public:
  static constexpr int kVersion = 2;  // PRAGMA user_version; older ones are migrated, newer ones refused
  enum class Mode : uint8_t { write, read };

  // write: makes the folder and the file where they are missing. Errors: io (locked, read-only, no space: the system's
  // words), bad_file (no store, or damaged), unsupported (made by a newer program); read: not_found.
  static Result<Store> open(const std::filesystem::path& path, Mode mode, int busy_ms = 2000);
  Store(Store&& o) noexcept;
  Store& operator=(Store&& o) noexcept;
  ~Store();

  // Durable once it returns. Errors: as open; invalid_argument (the id is there already).
  Result<void> add(const Sealed& record);
  std::filesystem::path path() const { return path_; }

  // Newest first.
  Result<std::vector<RecordHead>> list(const Filter& filter) const;
  // ref: "last", "last~N", an id or its beginning (4 digits or more). Errors: not_found, invalid_argument (ambiguous).
  Result<std::string> get(const std::string& ref) const;  // the document
  // Errors: as get.
  Result<std::string> remove(const std::string& ref);  // the id
  Result<Verification> verify() const;

 private:
  Store() = default;
  Result<void> migrate(Mode mode, int busy_ms);
  Result<void> insert(const Sealed& record);
  Result<std::string> resolve(const std::string& ref) const;

  std::filesystem::path path_;
  sqlite3* db_ = nullptr;
};

// $XDG_DATA_HOME/ridge/records.db. Errors: not_found.
Result<std::filesystem::path> default_store_path();

// Puts a record where it can be put, and never fails: into the store; else into a file beside it; else into a file of
// the temporary folder; else nowhere.
struct Kept {
  std::string where;    // store or file; "" = nowhere
  std::string warning;  // why not in the store; "" = it is
};
Kept keep(const Sealed& record, const std::filesystem::path& store_path, int busy_ms = 2000);

}  // namespace ridge::record
