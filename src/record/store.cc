#include "record/store.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/cache_dir.h"
#include "record/sha256.h"
#include "record/sqlite.h"

namespace ridge::record {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kApplicationId = 0x52696467;  // "Ridg": told apart from other programs' databases

// From version i to i + 1. Never edited once released: a new version is a new row.
constexpr const char* kMigrations[] = {
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created_utc TEXT NOT NULL,"
    " command TEXT NOT NULL, model TEXT NOT NULL, document TEXT NOT NULL);"
    "CREATE TABLE chain (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, fields TEXT NOT NULL, hash TEXT NOT NULL,"
    " previous TEXT NOT NULL, link TEXT NOT NULL, deleted_utc TEXT);"
    "CREATE INDEX records_created ON records (created_utc);"
    "PRAGMA application_id = 1382638695;",
    // Lists show verdict and headline without reading whole documents.
    "ALTER TABLE records ADD COLUMN verdict TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE records ADD COLUMN headline TEXT NOT NULL DEFAULT '';"
    "UPDATE records SET verdict = COALESCE(json_extract(document, '$.verdict.level'), ''),"
    " headline = COALESCE(json_extract(document, '$.verdict.headline'), '') WHERE json_valid(document);",
};
static_assert(std::size(kMigrations) == Store::kVersion);
static_assert(kApplicationId == 1382638695);

std::string link_of(const std::string& previous, const std::string& id, const std::string& hash) {
  return sha256_hex(fmt::format("{} {} {}", previous, id, hash));
}

Result<void> execute(sqlite3* db, const char* sql, std::string_view path) {
  const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<Error>(sqlite_error(db, code, path));
  return {};
}

Result<int64_t> number_of(sqlite3* db, std::string_view sql, const std::string& path) {
  Statement s(db, sql, path);
  RIDGE_TRY(const bool row, s.step());
  return row ? s.number(0) : 0;
}

// FULL: a commit reaches the disk before it returns, in write-ahead mode too. Two processes that make a new file at
// once may find it busy without being asked to wait, so they are made to.
Result<void> begin_writing(sqlite3* db, int busy_ms, std::string_view path) {
  constexpr int kPauseMs = 10;
  for (int waited_ms = 0;; waited_ms += kPauseMs) {
    const auto done = execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", path);
    if (done || (sqlite3_errcode(db) & 0xff) != SQLITE_BUSY || waited_ms >= busy_ms) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
  }
}

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(sqlite3* db, const std::string& path) : db_(db), path_(path) {}
  ~Transaction() {
    if (open_) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Result<void> begin() {
    RIDGE_CHECK_OK(execute(db_, "BEGIN IMMEDIATE", path_));
    open_ = true;
    return {};
  }
  Result<void> commit() {
    RIDGE_CHECK_OK(execute(db_, "COMMIT", path_));
    open_ = false;
    return {};
  }

 private:
  sqlite3* db_;
  std::string path_;
  bool open_ = false;
};

// A member of the document, "" where it is not a text.
std::string text_at(const Json& doc, const char* pointer) {
  const Json::json_pointer p(pointer);
  return doc.contains(p) && doc.at(p).is_string() ? doc.at(p).get<std::string>() : std::string();
}

}  // namespace

Store::Store(Store&& o) noexcept : path_(std::move(o.path_)), db_(std::exchange(o.db_, nullptr)) {}
Store& Store::operator=(Store&& o) noexcept {
  std::swap(path_, o.path_);
  std::swap(db_, o.db_);
  return *this;
}
Store::~Store() {
  sqlite3_close(db_);
}

Result<Store> Store::open(const std::filesystem::path& path, Mode mode, int busy_ms) {
  Store s;
  s.path_ = path;
  std::error_code ec;
  if (mode == Mode::write && path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ec);
  if (ec) return fail(ErrorCode::io, "'{}': cannot create the folder: {}", path.parent_path().string(), ec.message());
  if (mode == Mode::read && !std::filesystem::exists(path, ec))
    return fail(ErrorCode::not_found, "'{}': no records are kept here yet; `ridge run` and `ridge bench` write them",
                path.string());
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::write ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_FULLMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &s.db_, flags, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<Error>(sqlite_error(s.db_, code, path.string()));
  sqlite3_extended_result_codes(s.db_, 1);
  sqlite3_busy_timeout(s.db_, busy_ms);
  RIDGE_CHECK_OK(s.migrate(mode, busy_ms));
  return s;
}

Result<void> Store::migrate(Mode mode, int busy_ms) {
  const std::string path = path_.string();
  if (mode == Mode::write) RIDGE_CHECK_OK(begin_writing(db_, busy_ms, path));
  RIDGE_TRY(const int64_t application, number_of(db_, "PRAGMA application_id", path));
  RIDGE_TRY(int64_t version, number_of(db_, "PRAGMA user_version", path));
  if (version == kVersion && application == kApplicationId) return {};
  Transaction change(db_, path);
  RIDGE_CHECK_OK(change.begin());
  // Again, for another process may have done it while this one waited.
  RIDGE_TRY(version, number_of(db_, "PRAGMA user_version", path));
  RIDGE_TRY(const int64_t now, number_of(db_, "PRAGMA application_id", path));
  RIDGE_TRY(const int64_t n_tables, number_of(db_, "SELECT count(*) FROM sqlite_master", path));
  if (n_tables > 0 && now != kApplicationId)
    return fail(ErrorCode::bad_file, "'{}': a database, but no store of records", path);
  if (version > kVersion) {
    return fail(ErrorCode::unsupported, "'{}': version {} of the store, this program knows up to {}: use a newer one",
                path, version, kVersion);
  }
  for (; version < kVersion; ++version) RIDGE_CHECK_OK(execute(db_, kMigrations[version], path));
  RIDGE_CHECK_OK(execute(db_, fmt::format("PRAGMA user_version = {}", kVersion).c_str(), path));
  return change.commit();
}

Result<void> Store::add(const Sealed& record) {
  Transaction change(db_, path_.string());
  RIDGE_CHECK_OK(change.begin());
  RIDGE_CHECK_OK(insert(record));
  return change.commit();
}

Result<void> Store::insert(const Sealed& r) {
  const std::string path = path_.string();
  const Json doc = Json::parse(r.json, nullptr, false);
  std::string previous, model = text_at(doc, "/identity/model/name");
  if (model.empty()) model = text_at(doc, "/identity/model/path");
  int64_t seq = 1;
  {
    Statement known(db_, "SELECT 1 FROM chain WHERE id = ?", path);
    RIDGE_TRY(const bool is_known, known.bind(r.id).step());
    if (is_known) return fail(ErrorCode::invalid_argument, "record {} is, or was, in '{}'", r.id, path);
    Statement last(db_, "SELECT seq, link FROM chain ORDER BY seq DESC LIMIT 1", path);
    RIDGE_TRY(const bool any, last.step());
    if (any) seq = last.number(0) + 1, previous = last.text(1);
  }
  const std::string created = text_at(doc, "/created_utc"), command = text_at(doc, "/command"),
                    verdict = text_at(doc, "/verdict/level"), headline = text_at(doc, "/verdict/headline"),
                    fields = Json(r.fields).dump(), link = link_of(previous, r.id, r.hash);
  Statement row(db_, "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", path);
  row.bind(seq).bind(r.id).bind(created).bind(command).bind(model).bind(r.json).bind(verdict).bind(headline);
  RIDGE_CHECK_OK(row.step());
  Statement in_chain(db_, "INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?, NULL)", path);
  in_chain.bind(seq).bind(r.id).bind(fields).bind(r.hash).bind(previous).bind(link);
  RIDGE_CHECK_OK(in_chain.step());
  return {};
}

Result<std::vector<RecordHead>> Store::list(const Filter& f) const {
  Statement s(db_,
              "SELECT seq, id, created_utc, command, model, verdict, headline FROM records WHERE"
              " (?1 = '' OR instr(lower(model), lower(?1)) > 0"
              "  OR instr(lower(json_extract(document, '$.identity.model.path')), lower(?1)) > 0)"
              " AND (?2 = '' OR command = ?2) AND (?3 = '' OR verdict = ?3) AND (?4 = '' OR created_utc >= ?4)"
              " AND (?5 = '' OR substr(created_utc, 1, length(?5)) <= ?5) ORDER BY seq DESC LIMIT ?6",
              path_.string());
  s.bind(f.model).bind(f.command).bind(f.verdict).bind(f.since).bind(f.until).bind(f.max > 0 ? f.max : int64_t{-1});
  std::vector<RecordHead> heads;
  for (;;) {
    RIDGE_TRY(const bool row, s.step());
    if (!row) return heads;
    heads.push_back({s.number(0), s.text(1), s.text(2), s.text(3), s.text(4), s.text(5), s.text(6)});
  }
}

Result<std::string> Store::resolve(const std::string& ref) const {
  const std::string path = path_.string();
  if (ref == "last" || ref.starts_with("last~")) {
    int64_t back = 0;
    for (const char c : ref.substr(std::min<size_t>(5, ref.size()))) {
      if (c < '0' || c > '9' || back > 1000000000)
        return fail(ErrorCode::invalid_argument, "record '{}': expected last~N with a whole number N", ref);
      back = back * 10 + (c - '0');
    }
    Statement s(db_, "SELECT id FROM records ORDER BY seq DESC LIMIT 1 OFFSET ?", path);
    RIDGE_TRY(const bool row, s.bind(back).step());
    if (row) return s.text(0);
    RIDGE_TRY(const int64_t n, number_of(db_, "SELECT count(*) FROM records", path));
    return fail(ErrorCode::not_found, "record '{}': '{}' holds {} records", ref, path, n);
  }
  if (ref.size() < 4 || ref.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                "record '{}': expected last, last~N, a file, or at least 4 hexadecimal digits of an id", ref);
  }
  Statement s(db_, "SELECT id FROM records WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2", path);
  RIDGE_TRY(const bool row, s.bind(ref).step());
  if (!row)
    return fail(ErrorCode::not_found, "record '{}': none in '{}' begins so; `ridge history` lists them", ref, path);
  const std::string id = s.text(0);
  RIDGE_TRY(const bool more, s.step());
  if (more) return fail(ErrorCode::invalid_argument, "record '{}': more than one begins so; give more digits", ref);
  return id;
}

Result<std::string> Store::get(const std::string& ref) const {
  RIDGE_TRY(const std::string id, resolve(ref));
  Statement s(db_, "SELECT document FROM records WHERE id = ?", path_.string());
  RIDGE_TRY(const bool row, s.bind(id).step());
  if (!row) return fail(ErrorCode::not_found, "record {} has just been deleted", id);
  return s.text(0);
}

Result<std::string> Store::remove(const std::string& ref) {
  RIDGE_TRY(std::string id, resolve(ref));
  const std::string path = path_.string(), now = utc_now();
  Transaction change(db_, path);
  RIDGE_CHECK_OK(change.begin());
  Statement row(db_, "DELETE FROM records WHERE id = ?", path);
  RIDGE_CHECK_OK(row.bind(id).step());
  Statement mark(db_, "UPDATE chain SET deleted_utc = ? WHERE id = ?", path);
  RIDGE_CHECK_OK(mark.bind(now).bind(id).step());
  RIDGE_CHECK_OK(change.commit());
  return id;
}

namespace {

// The record of one link: nothing said means that all of it fits.
void verify_document(const std::string& id, const std::string& document, const std::string& fields,
                     const std::string& hash, Verification& v) {
  auto sealed = read_sealed(document);
  if (!sealed) {
    v.chain_faults.push_back(fmt::format("record {}: {}", id, sealed.error().message));
    return;
  }
  const Json said = Json::parse(fields, nullptr, false);
  FieldHashes expected;
  for (const auto& [name, value] : said.items()) {
    if (value.is_string()) expected[name] = value.get<std::string>();
  }
  if (hash_of_fields(expected) != hash)
    v.chain_faults.push_back(fmt::format("record {}: the chain's own hashes were changed", id));
  const std::vector<Fault> faults = compare_fields(id, sealed->fields, expected);
  v.faults.insert(v.faults.end(), faults.begin(), faults.end());
  if (!faults.empty()) return;
  for (const Fault& f : check_seal(*sealed)) v.faults.push_back(f);
}

}  // namespace

Result<Verification> Store::verify() const {
  Verification v;
  const std::string path = path_.string();
  {
    Statement s(db_, "PRAGMA integrity_check(1)", path);
    RIDGE_TRY(const bool row, s.step());
    if (row && s.text(0) != "ok") v.chain_faults.push_back(fmt::format("'{}': {}", path, s.text(0)));
  }
  Statement s(db_,
              "SELECT c.id, c.fields, c.hash, c.previous, c.link, c.deleted_utc, r.document FROM chain c"
              " LEFT JOIN records r ON r.id = c.id ORDER BY c.seq",
              path);
  std::string previous;
  for (;;) {
    RIDGE_TRY(const bool row, s.step());
    if (!row) break;
    const std::string id = s.text(0), hash = s.text(2), link = s.text(4), document = s.text(6);
    const bool is_gone = !s.text(5).empty();
    ++(is_gone ? v.n_deleted : v.n_records);
    if (s.text(3) != previous)
      v.chain_faults.push_back(fmt::format("record {}: a link before it was taken out or changed", id));
    if (link_of(s.text(3), id, hash) != link)
      v.chain_faults.push_back(fmt::format("record {}: its link was changed: it is not the hash of what it links", id));
    previous = v.last_link = link;
    if (document.empty() != is_gone) {
      v.chain_faults.push_back(fmt::format(
          "record {}: {}", id, is_gone ? "deleted, and there again" : "taken out without `ridge history delete`"));
    } else if (!is_gone) {
      verify_document(id, document, s.text(1), hash, v);
    }
  }
  Statement stray(db_, "SELECT id FROM records WHERE id NOT IN (SELECT id FROM chain)", path);
  for (;;) {
    RIDGE_TRY(const bool row, stray.step());
    if (!row) return v;
    v.chain_faults.push_back(fmt::format("record {}: slipped in without a link", stray.text(0)));
  }
}

Result<std::filesystem::path> default_store_path() {
  RIDGE_TRY(const std::filesystem::path dir, data_dir());
  return dir / "records.db";
}

Kept keep(const Sealed& record, const std::filesystem::path& store_path, int busy_ms) {
  auto store = Store::open(store_path, Store::Mode::write, busy_ms);
  const Result<void> added = store ? store->add(record) : tl::unexpected<Error>(store.error());
  if (added) return {.where = store_path.string(), .warning = {}};
  const std::string name = fmt::format("record-{}.json", record.id), why = added.error().message;
  std::error_code ec;
  std::string tried;
  for (const std::filesystem::path& dir : {store_path.parent_path(), std::filesystem::temp_directory_path(ec)}) {
    const std::filesystem::path path = dir / name;
    auto file = AtomicFile::create(path);
    Result<void> done = file ? file->write(std::as_bytes(std::span(record.json))) : tl::unexpected<Error>(file.error());
    if (done) done = file->commit();
    if (done) {
      return {
          .where = path.string(),
          .warning = fmt::format("the record is not in the store but in '{}' (`ridge history import` takes it in): {}",
                                 path.string(), why)};
    }
    tried += "; " + done.error().message;
  }
  return {.where = {}, .warning = fmt::format("the record is lost: {}{}", why, tried)};
}

}  // namespace ridge::record
