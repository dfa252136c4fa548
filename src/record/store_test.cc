// What was acknowledged is there, whatever died when; what was changed by hand is found; what cannot be stored is kept
// elsewhere and said.
#include "record/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "record/sha256.h"

namespace ridge::record {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Folder {
 public:
  Folder() {
    static int counter = 0;
    path_ = fs::temp_directory_path() / fmt::format("ridge-store-{}-{}", getpid(), counter++);
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

Sealed some_record(const std::string& command = "run", const std::string& model = "tiny", double tok_s = 10.5) {
  Json fields;
  fields["command"] = command;
  fields["identity"]["model"] = {{"name", model}, {"path", "/models/" + model + "-q8.gguf"}};
  fields["samples"] = Json::array({{{"phase", "decode"}, {"values", {tok_s, 11.0, 12.25}}}});
  fields["verdict"] = {{"level", command == "run" ? "valid" : "invalid"}, {"headline", fmt::format("{} tok/s", tok_s)}};
  return seal(std::move(fields));
}

Store open_store(const fs::path& path, Store::Mode mode = Store::Mode::write) {
  auto store = Store::open(path, mode, 200);
  EXPECT_TRUE(store) << store.error().message;
  return std::move(*store);
}

void by_hand(const fs::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << (error != nullptr ? error : "");
  sqlite3_free(error);
  sqlite3_close(db);
}

TEST(Sha256, is_the_published_function) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const Folder folder;
  std::string text(3000000, 'a');
  std::ofstream(folder / "a") << text;
  EXPECT_EQ(sha256_of_file(folder / "a").value(), sha256_hex(text));
  EXPECT_EQ(sha256_of_file(folder / "b").error().code, ErrorCode::not_found);
  EXPECT_FALSE(sha256_of_file(fs::temp_directory_path()));
}

TEST(Document, seal_holds_until_a_field_changes_and_then_names_it) {
  const Sealed s = some_record();
  EXPECT_EQ(s.id.size(), 16u);
  const auto again = read_sealed(s.json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->id, s.id);
  EXPECT_EQ(again->hash, s.hash);
  EXPECT_TRUE(check_seal(*again).empty());
  // Layout and order of members carry no meaning.
  EXPECT_TRUE(check_seal(read_sealed(nlohmann::json::parse(s.json).dump(7)).value()).empty());
  std::string changed = s.json;
  changed.replace(changed.find("12.25"), 5, "13.25");
  const auto faults = check_seal(read_sealed(changed).value());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].field, "samples");
  EXPECT_NE(faults[0].sentence().find(s.id), std::string::npos);
  Json doc = Json::parse(s.json);
  doc.erase("verdict"), doc["note"] = "mine";
  std::set<std::string> named;
  for (const Fault& f : check_seal(read_sealed(doc.dump()).value())) named.insert(f.field);
  EXPECT_EQ(named, (std::set<std::string>{"verdict", "note"}));
  doc = Json::parse(s.json), doc["hash"] = std::string(64, '0');
  EXPECT_EQ(check_seal(read_sealed(doc.dump()).value()).at(0).field, "hash");
}

TEST(Document, that_is_none_is_refused) {
  const Sealed s = some_record();
  for (size_t n = 0; n + 2 < s.json.size(); n += 41) EXPECT_FALSE(read_sealed(s.json.substr(0, n))) << n;
  EXPECT_FALSE(read_sealed("[1]"));
  EXPECT_FALSE(read_sealed("{}"));
  EXPECT_FALSE(read_sealed(R"({"schema": "ridge-record/9", "id": "00"})"));
  EXPECT_FALSE(read_sealed(R"({"schema": 1, "id": []})"));
  EXPECT_EQ(read_sealed(std::string(2000000, '[')).error().code, ErrorCode::limit);
  EXPECT_EQ(read_sealed("{\"schema\":\"ridge-record/1\",\"id\":\"00\",\"x\":" + std::string(100, '[') +
                        std::string(100, ']') + "}")
                .error()
                .code,
            ErrorCode::limit);
}

TEST(Store, lists_filters_finds_and_deletes) {
  const Folder folder;
  const fs::path path = folder / "deep/er/records.db";
  EXPECT_EQ(Store::open(path, Store::Mode::read).error().code, ErrorCode::not_found);
  Store store = open_store(path);
  const Sealed a = some_record("run", "alpha"), b = some_record("bench", "beta"), c = some_record("run", "gamma");
  for (const Sealed* r : {&a, &b, &c}) ASSERT_TRUE(store.add(*r));
  EXPECT_EQ(store.add(a).error().code, ErrorCode::invalid_argument);
  const auto ids = [&](const Filter& f) {
    std::vector<std::string> found;
    const auto heads = store.list(f).value();
    for (const RecordHead& h : heads) found.push_back(h.id);
    return found;
  };
  EXPECT_EQ(ids({}), (std::vector{c.id, b.id, a.id}));
  EXPECT_EQ(ids({.max = 1}), std::vector{c.id});
  EXPECT_EQ(ids({.model = "LPHA"}), std::vector{a.id});
  EXPECT_EQ(ids({.model = "beta-q8"}), std::vector{b.id}) << "the path counts";
  EXPECT_EQ(ids({.command = "run"}), (std::vector{c.id, a.id}));
  EXPECT_EQ(ids({.verdict = "invalid"}), std::vector{b.id});
  EXPECT_EQ(ids({.since = "2999"}), std::vector<std::string>{});
  EXPECT_EQ(ids({.until = utc_now().substr(0, 10)}).size(), 3u);
  EXPECT_EQ(ids({.until = "2001"}), std::vector<std::string>{});
  EXPECT_EQ(store.get("last").value(), c.json);
  EXPECT_EQ(store.get("last~2").value(), a.json);
  EXPECT_EQ(store.get(b.id.substr(0, 9)).value(), b.json);
  EXPECT_EQ(store.get("last~3").error().code, ErrorCode::not_found);
  for (const char* bad : {"", "abc", "last~x", "latest", "xyzw", "last~99999999999"})
    EXPECT_FALSE(store.get(bad)) << bad;
  EXPECT_EQ(store.remove(b.id).value(), b.id);
  EXPECT_EQ(ids({}), (std::vector{c.id, a.id}));
  EXPECT_FALSE(store.add(b)) << "what was deleted does not come back under its name";
  const auto v = store.verify().value();
  EXPECT_TRUE(v.ok());
  EXPECT_EQ(v.n_records, 2u);
  EXPECT_EQ(v.n_deleted, 1u);
}

TEST(Store, finds_what_was_changed_by_hand_and_names_record_and_field) {
  const auto after = [](const std::string& sql) {
    const Folder folder;
    const Sealed own[] = {some_record("run", "a"), some_record("run", "b"), some_record("run", "c")};
    for (const Sealed& s : own) EXPECT_TRUE(open_store(folder / "r.db").add(s));
    const std::string id = own[1].id;
    std::string text = sql;
    for (size_t at; (at = text.find("$B")) != std::string::npos;) text.replace(at, 2, "'" + id + "'");
    by_hand(folder / "r.db", text);
    auto v = open_store(folder / "r.db", Store::Mode::read).verify().value();
    for (const Fault& f : v.faults) EXPECT_EQ(f.id, id);
    return v;
  };
  EXPECT_TRUE(after("SELECT 1").ok());
  const auto faster = after("UPDATE records SET document = replace(document, '12.25', '99.25') WHERE id = $B");
  ASSERT_EQ(faster.faults.size(), 1u);
  EXPECT_EQ(faster.faults[0].field, "samples");
  EXPECT_FALSE(faster.faults[0].found.empty());
  EXPECT_EQ(after("UPDATE records SET document = json_set(document, '$.note', 'x') WHERE id = $B").faults[0].field,
            "note");
  EXPECT_EQ(
      after("UPDATE records SET document = json_set(document, '$.hashes.verdict', 'x') WHERE id = $B").faults[0].field,
      "verdict");
  EXPECT_FALSE(after("UPDATE records SET document = '{}' WHERE id = $B").ok());
  EXPECT_FALSE(after("DELETE FROM records WHERE id = $B").ok());
  EXPECT_FALSE(after("DELETE FROM records WHERE id = $B; DELETE FROM chain WHERE id = $B").ok());
  EXPECT_FALSE(after("DELETE FROM chain WHERE id = $B").ok());
  EXPECT_FALSE(after("UPDATE chain SET hash = 'x' WHERE id = $B").ok());
  EXPECT_FALSE(after("UPDATE chain SET link = 'x' WHERE id = $B").ok());
  EXPECT_FALSE(after("UPDATE chain SET deleted_utc = 'x' WHERE id = $B").ok());
}

TEST(Store, of_the_first_version_is_migrated_and_of_a_later_one_refused) {
  const Folder folder;
  const Sealed old = some_record();
  ASSERT_TRUE(open_store(folder / "r.db").add(old));
  by_hand(folder / "r.db",
          "ALTER TABLE records DROP COLUMN verdict; ALTER TABLE records DROP COLUMN headline; PRAGMA user_version = 1");
  Store store = open_store(folder / "r.db", Store::Mode::read);
  ASSERT_EQ(store.list({}).value().size(), 1u);
  EXPECT_EQ(store.list({}).value()[0].verdict, "valid");
  EXPECT_EQ(store.list({}).value()[0].headline, "10.5 tok/s");
  EXPECT_TRUE(store.verify().value().ok());
  ASSERT_TRUE(store.add(some_record()));
  by_hand(folder / "r.db", "PRAGMA user_version = 99");
  EXPECT_EQ(Store::open(folder / "r.db", Store::Mode::write).error().code, ErrorCode::unsupported);
  by_hand(folder / "other.db", "CREATE TABLE t (x); PRAGMA user_version = 2");
  EXPECT_EQ(Store::open(folder / "other.db", Store::Mode::write).error().code, ErrorCode::bad_file);
}

// keep() must give a file that holds the record, and a reason that has the word.
void expect_kept_elsewhere(const fs::path& store, const std::string& word) {
  const Sealed r = some_record();
  const Kept kept = keep(r, store, 50);
  EXPECT_NE(kept.warning.find(word), std::string::npos) << kept.warning;
  ASSERT_NE(kept.where, "") << kept.warning;
  EXPECT_NE(kept.where, store.string());
  std::ifstream in(kept.where);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, r.json);
  fs::remove(kept.where);
}

TEST(Store, that_cannot_be_written_sends_the_record_to_a_file_and_says_why) {
  const Folder folder;
  const fs::path path = folder / "r.db";
  const Sealed first = some_record();
  EXPECT_EQ(keep(first, path).warning, "");
  // Locked by another.
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  expect_kept_elsewhere(path, "locked");
  sqlite3_close(other);
  EXPECT_EQ(keep(some_record(), path).warning, "");
  // Damaged: a file of another kind, and a store whose middle is gone.
  std::ofstream(folder / "text.db") << "this is a letter to my aunt, and no database at all\n";
  expect_kept_elsewhere(folder / "text.db", "not a database");
  fs::copy_file(path, folder / "torn.db");
  {
    std::fstream f(folder / "torn.db", std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(64) << std::string(4000, 'x');
  }
  expect_kept_elsewhere(folder / "torn.db", "torn.db");
  // A folder where the file should be; a folder that nobody may write.
  fs::create_directories(folder / "folder.db");
  expect_kept_elsewhere(folder / "folder.db", "unable to open");
  expect_kept_elsewhere("/proc/ridge/records.db", "cannot create the folder");
  EXPECT_TRUE(open_store(path).verify().value().ok());
}

TEST(Store, that_is_full_sends_the_record_to_a_file_or_says_that_it_is_lost) {
  const Folder folder;
  ASSERT_EQ(keep(some_record(), folder / "r.db").warning, "");
  const pid_t child = fork();
  if (child == 0) {
    // Not a byte more in any file of this process: as on a full disk, the temporary folder is full as well.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    const Kept kept = keep(some_record(), folder / "r.db", 50);
    _exit(kept.where.empty() && kept.warning.find("lost") != std::string::npos ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(open_store(folder / "r.db").verify().value().n_records, 1u) << "what was there is whole";
}

TEST(Store, is_written_by_many_processes_at_once) {
  const Folder folder;
  constexpr int kWriters = 4, kEach = 10;
  std::vector<pid_t> children;
  for (int w = 0; w < kWriters; ++w) {
    const pid_t child = fork();
    if (child == 0) {
      int n_kept = 0;
      for (int i = 0; i < kEach; ++i) n_kept += keep(some_record(), folder / "r.db", 20000).warning.empty() ? 1 : 0;
      _exit(n_kept == kEach ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto v = open_store(folder / "r.db").verify().value();
  EXPECT_TRUE(v.ok());
  EXPECT_EQ(v.n_records, static_cast<size_t>(kWriters * kEach));
}

// Writes records for ever; after each acknowledgement its id goes through the pipe.
[[noreturn]] void write_for_ever(const fs::path& path, int pipe_fd) {
  for (;;) {
    const Sealed r = some_record();
    if (!keep(r, path, 20000).warning.empty()) _exit(1);
    if (write(pipe_fd, r.id.data(), r.id.size()) != static_cast<ssize_t>(r.id.size())) _exit(2);
  }
}

// RIDGE_KILLS: how many; 500 for the full count.
TEST(Store, loses_no_acknowledged_record_to_kills_at_random_moments) {
  const char* wish = std::getenv("RIDGE_KILLS");
  const long n_kills = wish != nullptr ? std::strtol(wish, nullptr, 10) : std::getenv("RIDGE_FAST") != nullptr ? 8 : 30;
  const Folder folder;
  std::mt19937 random(20261130);
  std::set<std::string> acknowledged;
  for (long kill_idx = 0; kill_idx < n_kills; ++kill_idx) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      write_for_ever(folder / "r.db", ends[1]);
    }
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
    char id[16];
    while (read(ends[0], id, sizeof(id)) == static_cast<ssize_t>(sizeof(id))) acknowledged.emplace(id, sizeof(id));
    close(ends[0]);
  }
  Store store = open_store(folder / "r.db");
  std::set<std::string> there;
  const auto heads = store.list({}).value();
  for (const RecordHead& h : heads) there.insert(h.id);
  for (const std::string& id : acknowledged) EXPECT_TRUE(there.contains(id)) << id;
  EXPECT_GE(there.size(), acknowledged.size());
  const auto v = store.verify().value();
  EXPECT_TRUE(v.ok()) << v.faults.size() << " faults, " << v.chain_faults.size() << " of the chain";
  RecordProperty("acknowledged", static_cast<int>(acknowledged.size()));
  std::printf("%ld kills, %zu records acknowledged, %zu there\n", n_kills, acknowledged.size(), there.size());
  EXPECT_GT(acknowledged.size(), 0u);
}

}  // namespace
}  // namespace ridge::record
