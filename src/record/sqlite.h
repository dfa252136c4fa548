// SQLite behind Result: statements that clean up after themselves and errors in words. Private to record/.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace ridge::record {

// io for what may pass or lies outside (locked, full, read-only), bad_file for damage.
inline Error sqlite_error(sqlite3* db, int code, std::string_view path) {
  const char* text = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const int kind = code & 0xff;
  const bool damaged = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
  return {damaged ? ErrorCode::bad_file : ErrorCode::io,
          fmt::format("'{}': {} (SQLite {}{})", path, text, code,
                      damaged ? "; move the file away to begin a new store" : "")};
}

class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql, std::string path) : db_(db), path_(std::move(path)) {
    code_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The texts outlive the statement.
  Statement& bind(std::string_view text) {
    if (code_ == SQLITE_OK) {
      code_ = sqlite3_bind_text64(statement_, ++n_bound_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    return *this;
  }
  Statement& bind(int64_t number) {
    if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++n_bound_, number);
    return *this;
  }
  // True: a row is there.
  Result<bool> step() {
    if (code_ == SQLITE_OK) code_ = sqlite3_step(statement_);
    if (code_ == SQLITE_ROW) return code_ = SQLITE_OK, true;
    if (code_ == SQLITE_DONE) return code_ = SQLITE_OK, false;
    return tl::unexpected<Error>(sqlite_error(db_, code_, path_));
  }
  std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr ? std::string()
                            : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
  }
  int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3* db_;
  std::string path_;
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK, n_bound_ = 0;
};

}  // namespace ridge::record
